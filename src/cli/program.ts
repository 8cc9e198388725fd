import type { Command } from 'commander';
import type { GlobalFlags } from './api-address.js';
import { CliCommand } from './command.js';
import { registerAgent } from './commands/agent.js';
import { registerAgentOnboarding } from './commands/agent-onboarding.js';
import { registerAudit } from './commands/audit.js';
import { registerCluster } from './commands/cluster.js';
import { registerCompletion } from './commands/completion.js';
import { registerConfig } from './commands/config.js';
import { registerDb } from './commands/db.js';
import { registerDoctor } from './commands/doctor.js';
import { registerGraphExecute } from './commands/graph-execute.js';
import { registerGraphPlanning } from './commands/graph-planning.js';
import { registerGraphSimulate } from './commands/graph-simulate.js';
import { registerGraphStore } from './commands/graph-store.js';
import { registerHistory } from './commands/history.js';
import { registerIdentity } from './commands/identity.js';
import { registerInit } from './commands/init.js';
import { registerLogin } from './commands/login.js';
import { registerMaas } from './commands/maas.js';
import { registerNode } from './commands/node.js';
import { registerNotice } from './commands/notice.js';
import { registerPackage } from './commands/package.js';
import { registerInstalledPackages } from './commands/package-install.js';
import { registerProcesses } from './commands/process.js';
import { registerReleases } from './commands/release.js';
import { registerRole } from './commands/role.js';
import { registerRun } from './commands/run.js';
import { registerSchedule } from './commands/schedule.js';
import { registerSchemas } from './commands/schemas.js';
import { registerSequence } from './commands/sequence.js';
import { registerSite } from './commands/site.js';
import { registerStrategy } from './commands/strategy.js';
import { registerTag } from './commands/tag.js';
import { registerToken } from './commands/token.js';
import { programVersion, registerVersion } from './commands/version.js';
import { registerYaql } from './commands/yaql.js';
import { createSession } from './session.js';
import type { Terminal } from './terminal.js';

/**
 * The whole command line. Commands load what they need when they run: help and completion load nothing.
 *
 * @param complain prints wrong use; default: to the terminal
 */
export function createProgram(terminal: Terminal, complain: (text: string) => void = terminal.err): Command {
  const program = new CliCommand('sitewright');
  program
    .description('Deploys bare-metal sites through MAAS and runs task graphs on their nodes, durably, on Temporal.')
    .option('--api <url>', 'address of the API (default: SITEWRIGHT_API, else from the settings)')
    .option('--config <file>', 'settings file (default: SITEWRIGHT_CONFIG, else sitewright.yaml here)')
    .option(
      '--token-file <file>',
      'file with the token for the API, mode 600 (default: SITEWRIGHT_TOKEN, else ‘sitewright login’)',
    )
    .option('--no-color', 'no colours; NO_COLOR in the environment does the same')
    .option('--all', 'show every problem, not only the first of each kind')
    .version(programVersion(), '-V, --version', 'version of this program')
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: complain })
    .addHelpText(
      'after',
      `
Exit codes: 0 done, 1 came out badly (a run failed, was stopped or cancelled), 2 wrong use or not valid, 3 not found,
4 conflict, 5 unreachable, 6 not allowed, 130 interrupted. docs/cli.md describes every command.`,
    );
  const plain: Terminal = {
    ...terminal,
    get color() {
      return terminal.color && program.opts<{ color: boolean }>().color;
    },
  };
  const session = createSession(plain, () => program.opts<GlobalFlags>());

  program.commandsGroup('Deploy:');
  registerSite(program, session);
  registerRun(program, session);
  registerNode(program, session);
  registerSchedule(program, session);
  registerNotice(program, session);
  program.commandsGroup('Run task graphs:');
  const graph = program.verb('graph', 'Task graphs: store, plan, draw, run them');
  registerGraphStore(graph, session);
  registerGraphExecute(graph, session);
  registerCluster(program, session);
  registerReleases(program, session);
  registerRole(program, session);
  registerTag(program, session);
  registerSequence(program, session);
  registerHistory(program, session);
  program.commandsGroup('Write and check, offline:');
  registerInit(program, session);
  registerStrategy(program, session);
  registerGraphPlanning(graph, session);
  registerGraphSimulate(graph, session);
  registerInstalledPackages(registerPackage(program, session), session);
  registerSchemas(program, session);
  registerYaql(program, {
    terminal: plain,
    loadCluster: async (...which) => (await import('./cluster-states.js')).loadClusterStates(session, ...which),
    loadHelpers: async () => (await import('./yaql-user-functions.js')).loadYaqlHelpers(session),
  });
  program.commandsGroup('Run and maintain the system:');
  registerProcesses(program, session);
  registerAgentOnboarding(registerAgent(program, session), session);
  registerIdentity(program, session);
  registerDoctor(program, session);
  registerMaas(program, session);
  registerToken(program, session);
  registerLogin(program, session);
  registerAudit(program, session);
  registerDb(program, session);
  registerConfig(program, session);
  registerCompletion(program, session);
  registerVersion(program, session);
  return program;
}
