import type { WorkerVersionDetail } from '../../core/contracts/worker.ts';
import { given } from '../../core/data/given.ts';
import { counted } from '../../core/text/text.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { isTabular, type OutputFlags, printOne } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';

interface DrainFlags extends OutputFlags {
  readonly move?: boolean;
  readonly wait: boolean;
  readonly reason?: string;
}

const LOOK_EVERY_MS = 2_000;
const MAX_NAMED = 5;

/** `sitewright worker`: the process, and the builds of all workers. */
export function registerWorker(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program
    .verb('worker', 'Run only the orchestrator worker; subcommands manage the versions of all workers')
    .example()
    .action(async () => {
      const { settings } = await session.settings();
      const { serveWorker } = await import('../../../worker/orchestrator.ts');
      await serveWorker(terminal, settings);
    });

  group
    .verb('versions', 'Builds of the workers: the one for new runs, and those with open runs')
    .example()
    .calls(session, 'GET /workers/versions', {
      columns: ['version', 'status', 'open_runs', 'workers', 'last_seen', 'created_at'],
      rows: (items, { flags }) =>
        items.map(({ workers, ...one }) => ({
          ...one,
          workers: isTabular(flags) ? workers.length : workers,
          last_seen:
            workers
              .map(({ last_seen }) => last_seen)
              .sort()
              .at(-1) ?? null,
        })),
    });

  group
    .verb('drain', 'Send no new runs to a version, and wait until its runs have ended; then stop its workers')
    .example('1.0.0 --move --reason "upgrade"')
    .argument('<version>', 'version as in ‘worker versions’, or its part before the plus sign')
    .option('--move', 'move its open runs to the current version now')
    .option('--no-wait', 'do not wait for its runs')
    .reason('kept in the audit trail')
    .output()
    .action(async (version: string, { move, wait, reason, ...flags }: DrainFlags) => {
      const client = await session.client();
      const isText = flags.format === 'table';
      const say = (line: string): void => (isText ? terminal.out(`${line}\n`) : undefined);
      const at = (name: string) => ({ params: { version: name } });
      const body = { ...(move ? { move } : {}), ...given({ reason }) };
      const drained = await client.call('POST /workers/versions/:version/drain', { ...at(version), body });
      say(`new runs go to ${drained.current ?? 'workers without a version'}`);
      if (drained.moved > 0) say(`moved ${counted(drained.moved, 'open workflow')} there`);

      const interrupted = terminal.interrupted();
      let state: WorkerVersionDetail = drained;
      let said = '';
      while (wait && state.open_runs > 0 && !interrupted.aborted) {
        const line = waitingText(state);
        if (line !== said) say(line);
        said = line;
        await terminal.sleep(LOOK_EVERY_MS, interrupted);
        if (!interrupted.aborted) state = await client.call('GET /workers/versions/:version', at(state.version));
      }
      await printOne(terminal, flags, state, nextText(state));
      if (interrupted.aborted) process.exitCode = EXIT.interrupted;
    });
}

const waitingText = ({ version, open, open_runs: total }: WorkerVersionDetail): string => {
  const named = open.slice(0, MAX_NAMED).map(({ workflow_id }) => workflow_id);
  const more = total > named.length ? ` and ${total - named.length} more` : '';
  return `${version} still has ${counted(total, 'open workflow')}: ${named.join(', ')}${more}`;
};

function nextText(state: WorkerVersionDetail): string {
  const { version, open_runs: open, workers } = state;
  if (open > 0)
    return `${waitingText(state)}\n  wait for them:  sitewright worker drain ${version}\n  or move them:   sitewright worker drain ${version} --move\n`;
  if (workers.length === 0) return `${version} is drained: it has no workers and no open runs\n`;
  return `${version} is drained\n  next:  stop its workers: ${workers.map(({ identity }) => identity).join(', ')}\n`;
}
