import type { CliCommand } from '../command.ts';
import { type OutputFlags, printList } from '../formats/output.ts';
import type { Session } from '../session.ts';
import { changesOfEntry } from '../views/setting-changes.ts';

interface AuditFlags extends OutputFlags {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
}

/** `sitewright audit …`: the audit trail. */
export function registerAudit(program: CliCommand, session: Session): void {
  program
    .verb('audit', 'The audit trail: who did what, when and why')
    .verb('list', 'Entries of the audit trail, newest first')
    .example('--target site/dc1 --limit 20')
    .option('--actor <name>', 'only by this user or token')
    .option('--action <action>', 'only this action, such as run.pause')
    .option('--target <target>', 'only on this target, such as site/dc1 or run/ID')
    .option('--since <time>', 'at this time or later, ISO 8601')
    .option('--until <time>', 'before this time, ISO 8601')
    .limit()
    .output()
    .action(async ({ format, column, ...query }: AuditFlags) => {
      const { items } = await session.call('GET /audit', { query });
      const flags = { format, ...(column ? { column } : {}) };
      const isForPrograms = format === 'json' || format === 'yaml';
      const rows = isForPrograms ? items : items.map((one) => ({ ...one, changes: changesOfEntry(one.details) }));
      await printList(session.terminal, flags, rows, ['at', 'actor', 'action', 'target', 'reason', 'changes']);
    });
}
