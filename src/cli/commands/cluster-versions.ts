import { given } from '../../core/data/given.ts';
import { gapsText, partText, runMissed, settingsText } from '../../core/version-text.ts';
import type { Answer } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm } from '../shell/confirm.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { clusterArgument, pluginListArgument, releaseArgument } from '../shell/id-argument.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { CliError, usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { formatTable } from '../shell/table.ts';
import { forTypedSystem } from '../shell/typed-system.ts';
import { changesText } from '../views/setting-changes.ts';

interface MoveFlags extends OutputFlags {
  readonly release?: string;
  readonly plugin?: readonly number[];
  readonly back?: boolean;
  readonly yes?: boolean;
}

type Move = Answer<'GET /clusters/:id/move'>;
type Versions = Answer<'GET /clusters/:id/versions'>;

/** Adds `versions` and `move` to the `cluster` command: which node has which versions, and to others and back. */
export function registerClusterVersions(group: CliCommand, session: Session): void {
  const { terminal } = session;

  group
    .verb('versions', 'What a cluster is built of, and which node was deployed with which versions and settings')
    .example('lab')
    .argument('<id>', 'id or name of the cluster', clusterArgument)
    .calls(session, 'GET /clusters/:id/versions', { text: (found) => (color) => versionsText(found, color) });

  group
    .verb(
      'move',
      'Move a cluster to another version of its release or plugins, or back; its next deployment brings it to the nodes',
    )
    .example('lab --release web==2.0 --dry-run', 'what it changes')
    .example('lab --release web==2.0')
    .example('lab --plugin monitoring==1.1.0')
    .example('lab --back', 'to where the last move came from')
    .argument('<id>', 'id or name of the cluster', clusterArgument)
    .option('-r, --release <release>', 'version of its release: id, or NAME==VERSION', releaseArgument)
    .option('--plugin <plugins...>', 'versions of enabled plugins: ids, or NAME==VERSION', pluginListArgument)
    .option('--back', 'to where the last move came from')
    .asks()
    .output()
    .action(async (id: string, { release, plugin, back, yes, ...flags }: MoveFlags) => {
      if (release === undefined && plugin === undefined && !back)
        throw usageError('name a version', 'Give --release NAME==VERSION, --plugin NAME==VERSION, or --back.');
      const client = await session.client();
      const query = { ...given({ release, plugins: plugin?.join(',') }), ...(back && { back: true }) };
      const plan = await client.call('GET /clusters/:id/move', { params: { id }, query });
      const which = session.textOf('cluster', id);
      const errors = plan.findings.filter(({ severity }) => severity === 'error');
      if (errors.length > 0) {
        terminal.err(moveText(plan));
        throw new CliError({ code: 'conflict', message: `${which} cannot be moved so`, errors }, EXIT.conflict);
      }
      await confirm(terminal, `${moveText(plan)}Move ${which}?`, yes, 'asked');
      const moved = await client.call('POST /clusters/:id/move', {
        params: { id },
        body: {
          ...(release !== undefined && { release: Number(release) }),
          ...given({ plugins: plugin }),
          ...(back && { back: true }),
          digest: plan.digest,
        },
      });
      const text = `${which} moved\n  bring it to the nodes:  sitewright cluster deploy ${id}\n  take it back:           sitewright cluster move ${id} --back\n`;
      await printOne(terminal, flags, moved, forTypedSystem(terminal, text));
    });
}

function versionsText(
  { cluster, release, plugins, settings, revision, others, nodes }: Versions,
  color: boolean,
): string {
  const lines = [
    `release   ${partText(release)}\n`,
    ...plugins.map((one) => `plugin    ${partText(one)}\n`),
    `settings  ${settingsText(settings)}\n`,
    ...(revision === null ? [] : [`documents revision ${revision}\n`]),
    ...(others.length === 0 ? [] : [`other installed versions: ${others.map(partText).join(', ')}\n`]),
  ];
  const rows = nodes.map(({ name, deployed, revision: own, behind }) => ({
    node: name,
    state: gapsText(behind),
    ...versionColumns(deployed, own),
  }));
  const missed = nodes.flatMap((one) => one.missed.map(({ task, why }) => `  ${one.name}: ${task}: ${why}\n`));
  const command = runMissed(
    cluster,
    nodes.flatMap((one) => one.missed),
  );
  const left =
    missed.length === 0 ? '' : `\nchanged tasks that have not run:\n${missed.join('')}  run them: ${command}\n`;
  return `${lines.join('')}\n${formatTable(rows, ['node', 'state', 'run', 'release', 'plugins', 'settings', 'documents'], color)}${left}`;
}

/** What a node was deployed with, as columns of a table. */
export const versionColumns = (deployed: Versions['nodes'][number]['deployed'], revision: number | null) => ({
  run: deployed?.run ?? null,
  release: deployed === null ? null : partText(deployed.release),
  plugins: deployed?.plugins.map(partText).join(', ') ?? null,
  settings: deployed === null ? null : settingsText(deployed.settings),
  documents: revision,
});

/** What a move changes, by name. */
function moveText({ parts, settings, graphs }: Move): string {
  const names = (label: string, tasks: readonly string[]): string[] =>
    tasks.length === 0 ? [] : [`      ${label} ${tasks.join(', ')}\n`];
  return [
    ...parts.map(({ kind, from, to }) => `  ${kind} ${partText(from)} -> ${partText(to)}\n`),
    ...(settings.length === 0 ? ['  no setting changes\n'] : settings.map((one) => `  ${changesText([one])}\n`)),
    ...graphs.flatMap(({ type, owner, added, removed, changed }) => [
      `  graph ${type} of ${owner}:\n`,
      ...names('+', added),
      ...names('-', removed),
      ...names('~', changed),
    ]),
  ].join('');
}
