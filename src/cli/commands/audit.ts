import { isMapping } from '../../core/data/plain-value.ts';
import type { Answer, ApiClient } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { isTabular } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import { changesText } from '../views/setting-changes.ts';

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
    .calls(session, 'GET /audit', {
      columns: ['at', 'actor', 'action', 'target', 'reason', 'details'],
      rows: async (items, { flags }) => (isTabular(flags) ? inWords(await session.client(), items) : items),
    });
}

type Entry = Answer<'GET /audit'>['items'][number];

/** Runs of one answer whose numbers are asked for. */
const MOST_RUNS = 50;
const OF_RUN = 'run/';

/** Entries for people: runs by their numbers, details as text. */
async function inWords(client: ApiClient, items: readonly Entry[]): Promise<object[]> {
  const targets = new Set(items.flatMap(({ target }) => (target?.startsWith(OF_RUN) ? target : [])));
  const numbered = await Promise.all(
    [...targets].slice(0, MOST_RUNS).map(async (target) => {
      const run = await client.runs.get(target.slice(OF_RUN.length)).catch(() => null);
      return [target, run?.number == null ? target : `${OF_RUN}${run.number}`] as const;
    }),
  );
  const runs = new Map(numbered);
  return items.map(({ target, details, ...one }) => ({
    ...one,
    target: target && (runs.get(target) ?? target),
    details: detailsText(details),
  }));
}

/** `graphs: default; mode: apply`. What the target says already is left out. */
function detailsText(details: unknown): string {
  if (!isMapping(details)) return '';
  const { changes, run: _run, ...others } = details;
  const said = Object.entries(others).map(([name, value]) => `${name}: ${valueText(value)}`);
  return [...(Array.isArray(changes) && changes.length > 0 ? [changesText(changes)] : []), ...said].join('; ');
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ');
  if (isMapping(value)) return Object.values(value).map(valueText).join(' ');
  return value === null ? 'none' : String(value);
}
