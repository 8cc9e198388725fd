import type { Argument, Command, Option } from 'commander';
import type { CliCommand } from '../../src/cli/shell/command.ts';

/** What the declaration of a command cannot say, by its path: a format, a rule, where to read on. */
const NOTES: Readonly<Record<string, string>> = {
  run: 'RUN is a number or an id, a unique beginning of it, a workflow id (`deploy_site:dc1`), or the name of a site: its newest run; so it is in all commands.',
  node: 'Nodes of the inventory are given by id or name, those of a site by name.',
  'node maintenance on':
    'A run under way keeps its plan. A group counts its percentage and failures without the node; `minimum_successful_nodes` stays as written.',
  'site deploy': 'A second run on a site is refused (exit code 4) with the id of the first.',
  'site follow': '[Documents from Git](documents.md#documents-from-git) describes the process.',
  'site drift':
    'Exit code 1 if a machine differs or MAAS no longer lists it. [Drift](documents.md#drift) says what is compared.',
  'run pause':
    'Nothing new starts and running work finishes, until `run resume` ([steer runs](../how-to/operating.md)).',
  'strategy simulate': `A case is \`{"id": "one", "input": {"strategy": …, "nodes": […], "outcomes": {"a": {"deploy": "failure"}}}}\`; \`strategy\`
null is none. An outcome is \`success\` (default), \`failure\`, \`timeout\` or \`no_join\`, for the steps \`prepare\` and \`deploy\`.
\`target_nodes\` limits it. Each case prints a line: \`{id, order, processed, calls, groups, nodes, halts}\`, or \`{id, rejected}\`.`,
  graph: '[Graphs](graphs.md) describes the tasks. A stored graph belongs to a cluster, a release or a plugin.',
  'graph execute':
    '`FILE --local` runs the tasks of a file on this machine, in the cluster `local`, which it makes if needed, and is the agent meanwhile.',
  'agent serve':
    'The folder has `ticket.json`, `credentials.json` and `policy.yaml` ([security](../explain/security.md)).',
  'agent run': 'See [agents](../how-to/agents.md).',
  identity: 'These work on `gateway.data_dir` and the store: run them where the gateway runs.',
  'cluster check': 'Exit code 2 when a run would be refused. [Codes](tags.md#checks-before-a-run).',
  'cluster create':
    'A network of the release is the subnet or space of its name in MAAS, unless `--network NAME=PLACE` names another.',
  'cluster deploy':
    'Runs the sequence `deploy-changes` of the release; else `deletion` for removed nodes, `provisioning` for new ones, and `default`.',
  'package check': '[Packages](packages.md) lists what is checked.',
  tag: '[Tags](tags.md) place tasks on nodes.',
  'yaql eval': '[YAQL](yaql.md) describes the language, [data for expressions](expression-data.md) what it sees.',
  up: `Data is kept in \`.sitewright/\` of the working directory, for one \`up\` at a time. A process that dies is restarted; Ctrl-C ends all
of them in order. Only you can read that folder. Unless \`access.tokens\` is set, the API requires a token, which \`up\` keeps in \`.sitewright/token\`: the
link that it prints signs the browser in, and commands in that folder or below it send the token without being told. With \`--no-token\`, or
\`access.tokens: off\`, every user of the machine may use the system as an admin, and run commands as you ([access](../how-to/access.md)).`,
  'worker drain': 'See [upgrade](../how-to/upgrade.md). It may be interrupted and repeated.',
  'maas simulate': `With \`--machines containers\` each deployed machine is a container with systemd and cloud-init, with the host name, addresses and
MAC that it has in MAAS. That needs Linux, root, podman, runc, debootstrap and \`containernetworking-plugins\`, and cannot be combined with
\`--state\`.`,
  'token bootstrap':
    'Run it where the API runs, with its settings: it needs no API. [Control access](../how-to/access.md).',
  login:
    'The session is kept in the contexts of its address, and in a new one if there is none: `~/.config/sitewright/contexts.json` (mode 600).',
  schedule: '[Temporal alone](../how-to/operating.md#schedules) makes the same schedules.',
  'schedule create':
    'A run that is due while another has the site or cluster ends with `SiteBusy` or `ClusterBusy`; the next one is due as usual.',
  notice: '[Notices](../how-to/monitor.md#notices).',
};

/** Options that many commands share, by the section that describes them; that of output is not named with each. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  '': ['--format', '--column'],
  '[waiting](#waiting)': ['--wait', '--watch'],
  '[dry run](#dry-run)': ['--dry-run', '--detailed-exitcode'],
  '[confirmation](#confirmation)': ['--yes'],
  '[description of the run](#description-of-a-run)': ['--title', '--description', '--label', '--reason'],
};

/** The text of docs/reference/cli.md, generated from the declarations of the commands. */
export function cliReference(program: Command): string {
  const commands = program.commands.filter((command) => command.name() !== 'help');
  const unknown = Object.keys(NOTES).filter((path) => find(program, path) === undefined);
  if (unknown.length > 0) throw new Error(`notes about commands that do not exist: ${unknown.join(', ')}`);
  const global = program.options.map((option) => `- ${describe(option)}`);
  return `<!-- Generated by \`npm run docs:cli\` from the declarations in src/cli/commands; a test compares them. -->
# The command line

Every command has \`--help\`; an unknown command or option is answered with the nearest one. Clusters, nodes, releases, plugins and sequences are
given by id or by name (\`NAME VERSION\` where several versions have it). A short option has one meaning in all commands. So has a verb: what is
stored is created and deleted; what is part of something is added and removed; a package is installed and removed; a right is revoked. Fuel's words are
accepted: \`-e\` and \`--env\` for \`--cluster\`, \`--nodes\` for \`--node\`, and \`--statuses\`, \`--names\` and \`--tags\` for the same without the s.

## For every command

${global.join('\n')}
- \`-h, --help\`: help for the command.

### Output

Commands that print data take \`-f, --format <format>\`: \`table\` (default), \`json\`, \`yaml\` or \`csv\`. \`-c, --column <name>\` shows only this
column; repeatable. \`json\` and \`yaml\` have every field. Messages go to standard error; with \`-f json\` an error is the API's problem:
\`code\`, \`message\`, \`hint\`, \`errors\`.

### Dry run

\`--dry-run\` shows what the command would do, and changes nothing; with \`--detailed-exitcode\` the exit code is 0 for nothing to do, 2 for
changes, 1 for an error.

### Confirmation

With \`-y, --yes\` a command does not ask. Without a terminal, one that destroys something needs it; others go on.

### Waiting

\`--wait\` waits for the end of a run, and the exit code is its result; \`--watch\` also prints a line for each change. Ctrl-C ends the waiting, not
the run. While the API is unavailable, the command waits for it, up to five minutes.

### Description of a run

\`--title <text>\` is shown in lists of runs and in Temporal. \`--description <text>\` is any text, as Markdown. \`--label <name:value>\` finds the run;
repeatable. \`--reason <text>\` is kept with the run and in the audit.

### Exit codes

| code | meaning |
| --- | --- |
| 0 | done; a run ended with \`success\` or \`success_with_failures\` |
| 1 | done, with a negative result: the awaited run failed, the package is not valid, a machine drifted |
| 2 | wrong usage, or invalid input; with \`--detailed-exitcode\`, there is something to do |
| 3 | the site, revision, run, node or file does not exist |
| 4 | conflict: the site is busy, the run has ended, the name is taken, the schema is behind |
| 5 | the API, Temporal, MAAS or the store cannot be reached, or failed |
| 6 | the API requires a token, or one with another role |
| 130 | interrupted; a watched run continues |

${commands.map((command) => groupText(command as CliCommand)).join('\n')}`;
}

function groupText(command: CliCommand): string {
  const subs = leaves(command);
  const head = `## ${command.name()}\n\n${sentence(command.description())}${noteOf(command)}\n`;
  if (command.commands.length === 0) return `${head}${details(command)}`;
  return `${head}\n${subs.map((sub) => `### \`${pathOf(sub)}\`\n\n${sentence(sub.description())}${noteOf(sub)}\n${details(sub)}`).join('\n')}`;
}

const leaves = (command: Command): CliCommand[] =>
  command.commands
    .filter((one) => one.name() !== 'help')
    .flatMap((one) => (one.commands.length > 0 ? leaves(one) : [one as CliCommand]));

function noteOf(command: Command): string {
  const note = NOTES[pathOf(command)];
  return note === undefined ? '' : `\n${note}`;
}

/** How it is called, with examples where its help has some, and its options. */
function details(command: CliCommand): string {
  const examples = command
    .examples()
    .map(({ line, what }) => (what === undefined ? `$ ${line}` : `$ ${line}  # ${what}`));
  const shown = command.options.filter((option) => !option.hidden);
  const shared = Object.entries(SHARED).filter(([, names]) => shown.some(({ long }) => names.includes(long ?? '')));
  const sections = shared.flatMap(([section]) => section || []);
  const own = shown.filter(
    ({ long }) =>
      !Object.values(SHARED)
        .flat()
        .includes(long ?? '') || isOwn(command, long!),
  );
  const lines = [
    ...command.registeredArguments.map((argument) => `- ${argumentText(argument)}`).filter((line) => line !== '- '),
    ...own.map((option) => `- ${describe(option)}`),
    ...(sections.length > 0 ? [`- ${sections.join(', ')}`] : []),
  ];
  const usage = [`sitewright`, pathOf(command), ...command.registeredArguments.map(placeholder)].join(' ');
  const block = examples.length > 0 ? examples.join('\n') : `$ ${usage}`;
  // The heading says as much.
  const shownBlock = block === `$ sitewright ${pathOf(command)}` ? '' : `\n\`\`\`console\n${block}\n\`\`\`\n`;
  return `${shownBlock}${lines.length > 0 ? `\n${lines.join('\n')}\n` : ''}`;
}

/** What the shared descriptions say. */
const SAME = new Set(['show what it would do, and change nothing', 'do not ask']);

/** `--format` of a command that prints no table is its own, as is a `--label` that filters. */
function isOwn(command: Command, long: string): boolean {
  const has = (name: string) => command.options.some((option) => option.long === name);
  if (long === '--format') return !has('--column');
  if (long === '--dry-run' || long === '--yes')
    return !SAME.has(command.options.find((option) => option.long === long)!.description);
  if (long === '--label' || long === '--description') return !has('--title');
  return false;
}

const placeholder = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '…' : ''}`.toUpperCase();
  return argument.required ? name : `[${name}]`;
};

/** The note of the group `run` says it once. */
const RUN = 'number of the run, its id or a unique prefix';

const argumentText = (argument: Argument): string => {
  const { description } = argument;
  if (description === '' || description === `name of the ${argument.name()}` || description.startsWith(RUN)) return '';
  return `\`${placeholder(argument)}\`: ${ended(description)}`;
};

function describe({ flags, description, argChoices, defaultValue }: Option): string {
  const choices = argChoices === undefined ? '' : ` One of ${argChoices.map((choice) => `\`${choice}\``).join(', ')}.`;
  const fallback = typeof defaultValue === 'string' ? ` Default: \`${defaultValue}\`.` : '';
  return `\`${flags}\`: ${ended(description)}${choices}${fallback}`;
}

const ended = (text: string): string =>
  (/[.:…]$/.test(text) ? text : `${text}.`).replaceAll('|', '\\|').replace(/</g, '&lt;');
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${ended(text.slice(1))}`;

function pathOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) names.unshift(one.name());
  return names.join(' ');
}

function find(program: Command, path: string): Command | undefined {
  return path
    .split(' ')
    .reduce<Command | undefined>((command, name) => command?.commands.find((one) => one.name() === name), program);
}
