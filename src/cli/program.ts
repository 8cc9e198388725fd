import type { Command } from 'commander';
import { programVersion } from '../platform/installation.ts';
import type { GlobalFlags } from './shell/api-address.ts';
import { CliCommand } from './shell/command.ts';
import { DRY_RUN } from './shell/confirm.ts';
import { addDryRuns, isChanging } from './shell/dry-run.ts';
import { EXIT_MEANINGS } from './shell/exit-codes.ts';
import { hasNames } from './shell/id-argument.ts';
import { createSession, type Session } from './shell/session.ts';
import type { Terminal } from './shell/terminal.ts';
import { typedSystem } from './shell/typed-system.ts';

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
    { names: ['site'], load: async () => (await import('./commands/sites.ts')).registerSite },
    { names: ['check'], load: async () => (await import('./commands/checks.ts')).registerCheck },
    { names: ['rehearse'], load: async () => (await import('./commands/rehearse.ts')).registerRehearse },
    { names: ['run'], load: async () => (await import('./commands/runs.ts')).registerRun },
    { names: ['node'], load: async () => (await import('./commands/nodes.ts')).registerNode },
    { names: ['schedule'], load: async () => (await import('./commands/schedules.ts')).registerSchedule },
    { names: ['notice'], load: async () => (await import('./commands/notices.ts')).registerNotice },
  ],
  'Run task graphs:': [
    { names: ['graph'], load: loadGraph },
    { names: ['cluster'], load: async () => (await import('./commands/clusters.ts')).registerCluster },
    { names: ['settings'], load: async () => (await import('./commands/settings.ts')).registerSettings },
    { names: ['release', 'plugin'], load: async () => (await import('./commands/releases.ts')).registerReleases },
    { names: ['role'], load: async () => (await import('./commands/roles.ts')).registerRole },
    { names: ['tag'], load: async () => (await import('./commands/tags.ts')).registerTag },
    { names: ['sequence'], load: async () => (await import('./commands/sequences.ts')).registerSequence },
    { names: ['history'], load: async () => (await import('./commands/transactions.ts')).registerHistory },
  ],
  'Write and check, offline:': [
    { names: ['init'], load: async () => (await import('./commands/init.ts')).registerInit },
    { names: ['strategy'], load: async () => (await import('./commands/strategy.ts')).registerStrategy },
    { names: ['package'], load: loadPackage },
    { names: ['schemas'], load: async () => (await import('./commands/schemas.ts')).registerSchemas },
    { names: ['yaql'], load: loadYaql },
  ],
  'Run and maintain the system:': [
    { names: ['demo'], load: async () => (await import('./commands/process.ts')).registerDemo },
    { names: ['up', 'api'], load: async () => (await import('./commands/process.ts')).registerProcesses },
    { names: ['guard-ui'], load: async () => (await import('./commands/process.ts')).registerGuardUi },
    { names: ['worker'], load: async () => (await import('./commands/worker.ts')).registerWorker },
    { names: ['agent'], load: loadAgent },
    { names: ['identity', 'gateway'], load: async () => (await import('./commands/identity.ts')).registerIdentity },
    { names: ['doctor'], load: async () => (await import('./commands/doctor.ts')).registerDoctor },
    { names: ['maas'], load: async () => (await import('./commands/maas.ts')).registerMaas },
    { names: ['token'], load: async () => (await import('./commands/tokens.ts')).registerToken },
    { names: ['login', 'logout'], load: async () => (await import('./commands/login.ts')).registerLogin },
    { names: ['audit'], load: async () => (await import('./commands/audit.ts')).registerAudit },
    { names: ['db'], load: async () => (await import('./commands/db.ts')).registerDb },
    { names: ['mcp'], load: async () => (await import('./commands/mcp.ts')).registerMcp },
    { names: ['context'], load: async () => (await import('./commands/context.ts')).registerContext },
    { names: ['config'], load: async () => (await import('./commands/context.ts')).registerConfig },
    { names: ['completion'], load: async () => (await import('./commands/completion.ts')).registerCompletion },
    { names: ['version'], load: async () => (await import('./commands/version.ts')).registerVersion },
  ],
};

async function loadGraph(): Promise<Register> {
  const [store, execute, serialize, plan, definitions, simulate] = await Promise.all([
    import('./commands/graph-store.ts'),
    import('./commands/graph-execute.ts'),
    import('./commands/graph-serialize.ts'),
    import('./commands/graph-plan.ts'),
    import('./commands/graph-definitions.ts'),
    import('./commands/graph-simulate.ts'),
  ]);
  return (program, session) => {
    const graph = program.verb('graph', 'Task graphs: store, plan, draw, run them');
    store.registerGraphStore(graph, session);
    execute.registerGraphExecute(graph, session);
    serialize.registerGraphSerialize(graph, session);
    plan.registerGraphPlan(graph, session);
    definitions.registerGraphDefinitions(graph, session);
    simulate.registerGraphSimulate(graph, session);
  };
}

async function loadPackage(): Promise<Register> {
  const [files, installed] = await Promise.all([
    import('./commands/packages.ts'),
    import('./commands/package-install.ts'),
  ]);
  return (program, session) => installed.registerInstalledPackages(files.registerPackage(program, session), session);
}

async function loadYaql(): Promise<Register> {
  const { registerYaql } = await import('./commands/yaql.ts');
  return (program, session) =>
    registerYaql(program, {
      terminal: session.terminal,
      loadCluster: async (...which) =>
        (await import('./commands/cluster-states.ts')).loadClusterStates(session, ...which),
      loadHelpers: async () => (await import('./commands/yaql-user-functions.ts')).loadYaqlHelpers(session),
    });
}

async function loadAgent(): Promise<Register> {
  const [agent, onboarding] = await Promise.all([
    import('./commands/agents.ts'),
    import('./commands/agent-onboarding.ts'),
  ]);
  return (program, session) => onboarding.registerAgentOnboarding(agent.registerAgent(program, session), session);
}

/** Options of every command. */
const globalOptions = (program: CliCommand): CliCommand =>
  program
    .option('--api <url>', 'address of the API (default: SITEWRIGHT_API, else of the context, else of the settings)')
    .option('--context <name>', 'the system of ‘sitewright context’ (default: SITEWRIGHT_CONTEXT, else the one in use)')
    .option(
      '--config <file>',
      'settings file (default: SITEWRIGHT_CONFIG, else sitewright.yaml here, else in ~/.config/sitewright)',
    )
    .option(
      '--token-file <file>',
      'file with the token for the API, mode 600 (default: SITEWRIGHT_TOKEN, else of the context, ‘sitewright login’ or ‘up’)',
    )
    .option('--no-color', 'no colours; NO_COLOR in the environment does the same')
    .option('--all', 'show every problem, not only the first of each kind');

/**
 * The command that a command line names, if the program needs no other: undefined for help, completion and unknown
 * commands.
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
A flag takes precedence over the environment, the environment over the context in use, the context over settings and defaults.

Exit codes: ${[...EXIT_MEANINGS].map(([code, meaning]) => `${code} ${meaning}`).join('; ')}.
docs/reference/cli.md describes every command.`,
    );
  const plain: Terminal = {
    ...terminal,
    get color() {
      return terminal.color && program.opts<{ color: boolean }>().color;
    },
    get typed() {
      return typedSystem(program.opts<GlobalFlags>());
    },
  };
  const session = createSession(plain, () => program.opts<GlobalFlags>());
  program.hook('preAction', async (_program, command) => {
    const { dryRun, detailedExitcode } = command.opts<{ dryRun?: boolean; detailedExitcode?: boolean }>();
    session.asked.dryRun = dryRun === true && isChanging(command);
    session.asked.detailedExitcode = detailedExitcode === true;
    // Its question is shown, and nobody is asked.
    if (session.asked.dryRun) command.setOptionValue('yes', DRY_RUN);
    if (hasNames(command)) await (await import('./shell/named-ids.ts')).putIdsForNames(command, session);
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
  addDryRuns(program);
  return program;
}
