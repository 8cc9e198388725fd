import type { Answer } from '../client.ts';
import type { CliCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type OutputFlags, printList, printOne } from '../formats/output.ts';
import { wholeNumber } from '../id-argument.ts';
import type { Session } from '../session.ts';
import { changesText } from '../views/setting-changes.ts';

interface Flags extends OutputFlags {
  readonly cluster: string;
  readonly yes?: boolean;
}

type Difference = Answer<'GET /clusters/:id/attributes/history/:number'>;

/** `sitewright settings …`: the settings of a cluster over time. */
export function registerSettings(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('settings', 'The settings of a cluster over time: history, differences, going back');
  const difference = (id: string, number: number): Promise<Difference> =>
    session.call('GET /clusters/:id/attributes/history/:number', { params: { id, number } });

  group
    .verb('history', 'The revisions of the settings, newest first, with what each changed and by whom')
    .example('--cluster lab')
    .ofCluster('whose settings', 'required')
    .output()
    .action(async ({ cluster, ...flags }: Flags) => {
      const { items } = await session.call('GET /clusters/:id/attributes/history', { params: { id: cluster } });
      const isForPrograms = flags.format === 'json' || flags.format === 'yaml';
      const rows = isForPrograms
        ? items
        : items.map((one) => ({
            ...one,
            changes: one.number === 1 ? 'as the cluster was created' : changesText(one.changes),
          }));
      await printList(terminal, flags, rows, ['number', 'at', 'by', 'changes']);
    });

  group
    .verb('diff', 'What has changed since a revision')
    .example('3 --cluster lab')
    .argument('<revision>', 'number of the revision', wholeNumber)
    .ofCluster('whose settings', 'required')
    .output()
    .action(async (revision: number, { cluster, ...flags }: Flags) => {
      const found = await difference(cluster, revision);
      session.foundChanges(found.changes.length > 0);
      await printOne(terminal, flags, found, linesOf(found, 'nothing has changed since'));
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

const linesOf = ({ number, changes }: Difference, none: string): string =>
  changes.length === 0 ? `${none} revision ${number}\n` : changes.map((one) => `${changesText([one])}\n`).join('');
