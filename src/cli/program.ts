import type { Command } from 'commander';
import type { GlobalFlags } from './api-address.js';
import { CliCommand } from './command.js';
import { programVersion } from './commands/version.js';
import { hasNames } from './id-argument.js';
import { createSession, type Session } from './session.js';
import type { Terminal } from './terminal.js';

type Register = (program: CliCommand, session: Session) => void;

/** Commands that are loaded together. */
interface CommandGroup {
  /** The program's commands that `load` registers. */
  readonly names: readonly string[];
  readonly load: () => Promise<Register>;
}

/** All commands by the headings of the help, in its order. */
const COMMANDS: Readonly<Record<string, readonly CommandGroup[]>> = {
  'Deploy:': [
    { names: ['site'], load: async () => (await import('./commands/site.js')).registerSite },
    { names: ['run'], load: async () => (await import('./commands/run.js')).registerRun },
    { names: ['node'], load: async () => (await import('./commands/node.js')).registerNode },
    { names: ['schedule'], load: async () => (await import('./commands/schedule.js')).registerSchedule },
    { names: ['notice'], load: async () => (await import('./commands/notice.js')).registerNotice },
  ],
  'Run task graphs:': [
    { names: ['graph'], load: loadGraph },
    { names: ['cluster'], load: async () => (await import('./commands/cluster.js')).registerCluster },
    { names: ['release', 'plugin'], load: async () => (await import('./commands/release.js')).registerReleases },
    { names: ['role'], load: async () => (await import('./commands/role.js')).registerRole },
    { names: ['tag'], load: async () => (await import('./commands/tag.js')).registerTag },
    { names: ['sequence'], load: async () => (await import('./commands/sequence.js')).registerSequence },
    { names: ['history'], load: async () => (await import('./commands/history.js')).registerHistory },
  ],
  'Write and check, offline:': [
    { names: ['init'], load: async () => (await import('./commands/init.js')).registerInit },
    { names: ['strategy'], load: async () => (await import('./commands/strategy.js')).registerStrategy },
    { names: ['package'], load: loadPackage },
    { names: ['schemas'], load: async () => (await import('./commands/schemas.js')).registerSchemas },
    { names: ['yaql'], load: loadYaql },
  ],
  'Run and maintain the system:': [
    { names: ['up', 'api'], load: async () => (await import('./commands/process.js')).registerProcesses },
    { names: ['worker'], load: async () => (await import('./commands/worker.js')).registerWorker },
    { names: ['agent'], load: loadAgent },
    { names: ['identity', 'gateway'], load: async () => (await import('./commands/identity.js')).registerIdentity },
    { names: ['doctor'], load: async () => (await import('./commands/doctor.js')).registerDoctor },
    { names: ['maas'], load: async () => (await import('./commands/maas.js')).registerMaas },
    { names: ['token'], load: async () => (await import('./commands/token.js')).registerToken },
    { names: ['login', 'logout'], load: async () => (await import('./commands/login.js')).registerLogin },
    { names: ['audit'], load: async () => (await import('./commands/audit.js')).registerAudit },
    { names: ['db'], load: async () => (await import('./commands/db.js')).registerDb },
    { names: ['config'], load: async () => (await import('./commands/config.js')).registerConfig },
    { names: ['completion'], load: async () => (await import('./commands/completion.js')).registerCompletion },
    { names: ['version'], load: async () => (await import('./commands/version.js')).registerVersion },
  ],
};

async function loadGraph(): Promise<Register> {
  const [store, execute, planning, simulate] = await Promise.all([
    import('./commands/graph-store.js'),
    import('./commands/graph-execute.js'),
    import('./commands/graph-planning.js'),
    import('./commands/graph-simulate.js'),
  ]);
  return (program, session) => {
    const graph = program.verb('graph', 'Task graphs: store, plan, draw, run them');
    store.registerGraphStore(graph, session);
    execute.registerGraphExecute(graph, session);
    planning.registerGraphPlanning(graph, session);
    simulate.registerGraphSimulate(graph, session);
  };
}

async function loadPackage(): Promise<Register> {
  const [files, installed] = await Promise.all([
    import('./commands/package.js'),
    import('./commands/package-install.js'),
  ]);
  return (program, session) => installed.registerInstalledPackages(files.registerPackage(program, session), session);
}

async function loadYaql(): Promise<Register> {
  const { registerYaql } = await import('./commands/yaql.js');
  return (program, session) =>
    registerYaql(program, {
      terminal: session.terminal,
      loadCluster: async (...which) => (await import('./cluster-states.js')).loadClusterStates(session, ...which),
      loadHelpers: async () => (await import('./yaql-user-functions.js')).loadYaqlHelpers(session),
    });
}

async function loadAgent(): Promise<Register> {
  const [agent, onboarding] = await Promise.all([
    import('./commands/agent.js'),
    import('./commands/agent-onboarding.js'),
  ]);
  return (program, session) => onboarding.registerAgentOnboarding(agent.registerAgent(program, session), session);
}

/** Options of every command. */
const globalOptions = (program: CliCommand): CliCommand =>
  program
    .option('--api <url>', 'address of the API (default: SITEWRIGHT_API, else from the settings)')
    .option('--config <file>', 'settings file (default: SITEWRIGHT_CONFIG, else sitewright.yaml here)')
    .option(
      '--token-file <file>',
      'file with the token for the API, mode 600 (default: SITEWRIGHT_TOKEN, else ‘sitewright login’)',
    )
    .option('--no-color', 'no colours; NO_COLOR in the environment does the same')
    .option('--all', 'show every problem, not only the first of each kind');

/**
 * The command that a command line names, where the program needs to know no other: undefined for help, for completion
 * and for what is not a command.
 */
export function commandNamed(args: readonly string[]): string | undefined {
  const [name] = globalOptions(new CliCommand()).parseOptions([...args]).operands;
  const isKnown = Object.values(COMMANDS).some((groups) => groups.some(({ names }) => names.includes(name ?? '')));
  return isKnown && name !== 'completion' ? name : undefined;
}

/**
 * The command line. Commands load what they need when they run.
 *
 * @param complain prints wrong use; default: to the terminal
 * @param only a command of the program: no other is loaded; default: all are
 */
export async function createProgram(
  terminal: Terminal,
  { complain = terminal.err, only }: { readonly complain?: (text: string) => void; readonly only?: string } = {},
): Promise<Command> {
  const program = globalOptions(new CliCommand('sitewright'));
  program
    .description('Deploys bare-metal sites through MAAS and runs task graphs on their nodes, durably, on Temporal.')
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
  program.hook('preAction', async (_program, command) => {
    if (hasNames(command)) await (await import('./named-ids.js')).putIdsForNames(command, session);
  });

  const asked = Object.entries(COMMANDS).map(
    ([heading, groups]) => [heading, groups.filter(({ names }) => only === undefined || names.includes(only))] as const,
  );
  const loaded = await Promise.all(
    asked.map(async ([heading, groups]) => [heading, await Promise.all(groups.map(({ load }) => load()))] as const),
  );
  for (const [heading, registers] of loaded) {
    program.commandsGroup(heading);
    for (const register of registers) register(program, session);
  }
  return program;
}
