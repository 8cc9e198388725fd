import type { Answer } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm } from '../shell/confirm.ts';
import { wholeNumber } from '../shell/id-argument.ts';
import { isTabular, type OutputFlags, printOne } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import { changesText } from '../views/setting-changes.ts';

interface Flags extends OutputFlags {
  readonly cluster: string;
  readonly yes?: boolean;
}

const DIFFERENCE = 'GET /clusters/:id/attributes/history/:number';
type Difference = Answer<typeof DIFFERENCE>;
type Revision = Answer<'GET /clusters/:id/attributes/history'>['items'][number];

/** `sitewright settings …`: the settings of a cluster over time. */
export function registerSettings(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('settings', 'The settings of a cluster over time: history, differences, going back');
  const difference = (id: string, number: number): Promise<Difference> =>
    session.call(DIFFERENCE, { params: { id, number } });

  group
    .verb('history', 'The revisions of the settings, newest first, with what each changed and by whom')
    .example('--cluster lab')
    .ofCluster('whose settings', 'required')
    .calls<'GET /clusters/:id/attributes/history', Flags>(session, 'GET /clusters/:id/attributes/history', {
      ask: ({ flags }) => ({ params: { id: flags.cluster } }),
      columns: ['number', 'at', 'by', 'changes'],
      rows: (items, { flags }) => items.map((one) => (isTabular(flags) ? { ...one, changes: changesOf(one) } : one)),
    });

  group
    .verb('diff', 'What has changed since a revision')
    .example('3 --cluster lab')
    .argument('<revision>', 'number of the revision', wholeNumber)
    .ofCluster('whose settings', 'required')
    .calls<typeof DIFFERENCE, Flags>(session, DIFFERENCE, {
      ask: ({ args, flags }) => ({ params: { id: flags.cluster, number: Number(args[0]) } }),
      text: (found) => linesOf(found, 'nothing has changed since'),
      after: ({ changes }) => session.foundChanges(changes.length > 0),
    });

  group
    .verb('revert', 'Go back to a revision, as a new one; refused where its values are no longer allowed')
    .example('3 --cluster lab')
    .argument('<revision>', 'number of the revision', wholeNumber)
    .ofCluster('whose settings', 'required')
    .asks()
    .output()
    .action(async (revision: number, { cluster, yes, ...flags }: Flags) => {
      const found = await difference(cluster, revision);
      if (found.changes.length === 0)
        return printOne(terminal, flags, found, linesOf(found, 'nothing has changed since'));
      const back = found.changes.map(({ setting, before, after }) => ({ setting, before: after, after: before }));
      const lines = back.map((one) => `  ${changesText([one])}\n`).join('');
      await confirm(
        terminal,
        `${lines}Revert the settings of ${session.textOf('cluster', cluster)} to revision ${revision}?`,
        yes,
        'asked',
      );
      const params = { id: cluster, number: revision };
      const now = await session.call('POST /clusters/:id/attributes/history/:number/revert', { params });
      await printOne(terminal, flags, now, `the settings are those of revision ${revision} again\n`);
    });
}

const changesOf = ({ number, changes }: Revision): string =>
  number === 1 ? 'as the cluster was created' : changesText(changes);

const linesOf = ({ number, changes }: Difference, none: string): string =>
  changes.length === 0 ? `${none} revision ${number}\n` : changes.map((one) => `${changesText([one])}\n`).join('');
