import {
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleHandle,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { graphWorkflowId, prefixed, siteWorkflowId, WORKFLOWS } from '../../workflows/protocol.ts';
import { readClusterSources } from '../clusters/read-sources.ts';
import { requestedGraphs } from '../clusters/requested-graphs.ts';
import type { Schedule } from '../core/contracts/schedules.ts';
import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import { parseGraphRunInput } from '../core/graph-run/input.ts';
import type { RunDescription } from '../core/run/description.ts';
import type { OperatorNote } from '../core/run/operator.ts';
import { parseSiteRunInput } from '../core/site-run/input.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { GRAPH_RUN_KIND, type OverlapPolicy, type ScheduledKind, SITE_RUN_KINDS } from '../core/words.ts';
import { cronOf } from './cron-text.ts';
import { invalidInput, problem } from './problem.ts';
import { requestProblem } from './refusal.ts';
import { metadataOf } from './run-metadata.ts';
import { Service } from './service.ts';
import { checkNames, parseReference } from './sites.ts';
import { temporalAddress } from './temporal-address.ts';
import { callTemporal, requestOfTemporal } from './temporal-calls.ts';
import { appendAudit } from './without-store.ts';

interface NewSchedule {
  readonly name: string;
  readonly kind: ScheduledKind;
  /** Input of each run, yet to be checked. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly cron: readonly string[];
  readonly timezone?: string;
  readonly overlap?: OverlapPolicy;
  readonly paused?: boolean;
}

/** A schedule is a workflow of the server's own: on a busy server its answers take seconds, which runs' do not. */
const LIMIT_MS = 15_000;

const KINDS: readonly string[] = [...SITE_RUN_KINDS, WORKFLOWS.execute_graph];

const OVERLAP: Readonly<Record<OverlapPolicy, ScheduleOverlapPolicy>> = {
  skip: ScheduleOverlapPolicy.SKIP,
  buffer_one: ScheduleOverlapPolicy.BUFFER_ONE,
  buffer_all: ScheduleOverlapPolicy.BUFFER_ALL,
  cancel_other: ScheduleOverlapPolicy.CANCEL_OTHER,
};

/** Schedules in Temporal that start our workflows, also those made with Temporal's own command line. */
export class ScheduleOperations extends Service {
  readonly #idOf = (name: string): string => prefixed(this.temporal.prefix, name);
  readonly #own = this.#idOf('');
  readonly #isOurs = ({ action }: ScheduleDescription): boolean =>
    KINDS.includes(action.workflowType) && action.taskQueue === this.temporal.taskQueue;

  /** @throws `invalid`, `not-found`, `conflict` when the name is taken */
  async create(request: NewSchedule, by: string): Promise<Schedule> {
    const { name, cron, timezone = 'UTC', overlap = 'skip', paused = false } = request;
    checkTimezone(timezone);
    const action = await this.#actionOf(request, by);
    const created = () =>
      this.temporal.client.schedule.create({
        scheduleId: this.#idOf(name),
        spec: { cronExpressions: [...cron], timezone },
        action,
        policies: { overlap: OVERLAP[overlap] },
        state: { paused },
        memo: { created_by: by },
      });
    await requestOfTemporal(this.temporal, created, LIMIT_MS).catch((error: unknown) => {
      if (error instanceof ScheduleAlreadyRunning)
        throw problem('conflict', `a schedule '${name}' already exists`, {
          hint: `Choose another name, or delete it: sitewright schedule delete ${name}`,
        });
      // So the client shows that the server refused the times.
      if (error instanceof TypeError)
        throw problem('invalid', `'${cron.join("', '")}' is not a time: ${error.message}`, {
          hint: 'Write five fields of cron such as "30 6 * * MON-FRI", or @daily, or @every 4h.',
        });
      throw error;
    });
    const details = { kind: request.kind, cron: [...cron], timezone, overlap };
    await appendAudit(this.store, { actor: by, action: 'schedule.create', target: `schedule/${name}`, details });
    return this.get(name);
  }
  /** By name. */
  async list(): Promise<readonly Schedule[]> {
    const described = await Promise.all(
      (await this.#names()).map((name) =>
        this.get(name).catch((error: unknown) => {
          // Deleted since, or of another installation.
          if (error instanceof Error && 'problem' in error) return undefined;
          throw error;
        }),
      ),
    );
    return described.flatMap((one) => (one === undefined ? [] : [one]));
  }
  async get(name: string): Promise<Schedule> {
    const temporal_url = temporalAddress(this.deps, 'schedules', this.#idOf(name));
    return { ...scheduleOf(name, (await this.#found(name)).is), temporal_url };
  }
  async pause(name: string, note: OperatorNote): Promise<Schedule> {
    await this.#change('pause', name, note, (handle) => handle.pause(noteText(note)));
    return this.get(name);
  }
  async resume(name: string, note: OperatorNote): Promise<Schedule> {
    await this.#change('resume', name, note, (handle) => handle.unpause(noteText(note)));
    return this.get(name);
  }
  /** Starts a run now, even while it is paused. */
  async run(name: string, note: OperatorNote): Promise<Schedule> {
    await this.#change('run', name, note, async (handle) => {
      await keepResponsible(handle, note.by ?? 'unknown');
      await handle.trigger();
    });
    return this.get(name);
  }
  delete(name: string, by: string): Promise<void> {
    return this.#change('delete', name, { by }, (handle) => handle.delete());
  }

  /** @throws `not-found` also where the schedule starts no workflow of this installation */
  async #found(name: string): Promise<{ readonly handle: ScheduleHandle; readonly is: ScheduleDescription }> {
    const handle = this.temporal.client.schedule.getHandle(this.#idOf(name));
    const is = await callTemporal(this.temporal, () => handle.describe(), LIMIT_MS).catch(async (error: unknown) => {
      throw error instanceof ScheduleNotFoundError ? noSchedule(name, await this.#names()) : error;
    });
    if (!this.#isOurs(is)) throw noSchedule(name, await this.#names());
    return { handle, is };
  }

  /** Of this installation's schedules, sorted. */
  #names(): Promise<readonly string[]> {
    return callTemporal(this.temporal, async () => {
      const ours: string[] = [];
      for await (const { scheduleId, action } of this.temporal.client.schedule.list())
        if (scheduleId.startsWith(this.#own) && (action === undefined || KINDS.includes(action.workflowType)))
          ours.push(scheduleId.slice(this.#own.length));
      return ours.sort();
    });
  }

  async #change(
    verb: 'pause' | 'resume' | 'run' | 'delete',
    name: string,
    { by = 'unknown', reason }: OperatorNote,
    work: (handle: ScheduleHandle) => Promise<void>,
  ): Promise<void> {
    const { handle } = await this.#found(name);
    await requestOfTemporal(this.temporal, () => work(handle), LIMIT_MS);
    const target = `schedule/${name}`;
    await appendAudit(this.store, {
      actor: by,
      action: `schedule.${verb}`,
      target,
      ...given({ reason }),
    });
  }

  /** The input of each run, after the checks at the start of such a run. */
  async #actionOf({ name, kind, input }: NewSchedule, by: string) {
    const own = ['started_by', 'responsible'].filter((field) => Object.hasOwn(input, field));
    if (own.length > 0)
      throw invalidInput(
        own.map(
          (field) => `field '${field}' is not for schedules: their creator and whoever triggers them are recorded`,
        ),
      );
    const whole = {
      ...input,
      started_by: `schedule:${name}`,
      responsible: [by],
      labels:
        isMapping(input.labels) || input.labels === undefined ? { ...input.labels, schedule: name } : input.labels,
    };
    if (kind === GRAPH_RUN_KIND) {
      const parsed = parseGraphRunInput([whole]);
      if (!parsed.ok) throw invalidInput(parsed.problems);
      if (parsed.input.from !== undefined)
        throw invalidInput(["field 'from' continues one run, but a schedule starts many"]);
      const sources = await readClusterSources(this.store, parsed.input.cluster);
      const requested = await requestedGraphs(this.store, parsed.input, sources);
      if (!requested.ok) throw requestProblem(requested.failure);
      return this.#startOf(kind, graphWorkflowId(parsed.input.cluster, name), parsed.input);
    }
    const parsed = parseSiteRunInput(kind, [whole]);
    if (!parsed.ok) throw invalidInput(parsed.problems);
    const { site, revision } = parsed.input;
    const reference = parseReference(String(revision ?? 'latest'));
    // `latest` and `last-good` may come to exist before a run is due.
    if (typeof reference !== 'string') await this.store.sites.findRevision(site, reference);
    await checkNames(this.store, parsed.input);
    return this.#startOf(kind, siteWorkflowId(kind, site), parsed.input);
  }

  /** @param workflowId Temporal adds the time to it for each run */
  #startOf(kind: ScheduledKind, workflowId: string, input: RunDescription & { readonly reason?: string }) {
    return {
      type: 'startWorkflow' as const,
      workflowType: kind,
      workflowId: this.#idOf(workflowId),
      taskQueue: this.temporal.taskQueue,
      args: [input],
      ...metadataOf(this.deps, input, `${workflowId} by schedule`),
    };
  }
}

/** A trigger carries no name: the input of this and of all later runs names who triggered it. */
async function keepResponsible(handle: ScheduleHandle, by: string): Promise<void> {
  const named = ({ action }: ScheduleDescription): readonly unknown[] => {
    const [input] = action.args ?? [];
    return isMapping(input) && Array.isArray(input.responsible) ? input.responsible : [];
  };
  if (named(await handle.describe()).includes(by)) return;
  await handle.update((before) => {
    const [input] = before.action.args ?? [];
    const responsible = [...new Set([...named(before), by])];
    return { ...before, action: { ...before.action, args: [{ ...(isMapping(input) ? input : {}), responsible }] } };
  });
}

const noSchedule = (name: string, known: readonly string[]) =>
  problem('not-found', `there is no schedule '${name}'`, {
    hint: didYouMean(name, known) ?? "'sitewright schedule list' shows all.",
  });

/** Temporal shows an empty note as its own text. */
const noteText = ({ by = 'unknown', reason }: OperatorNote): string => (reason === undefined ? by : `${by}: ${reason}`);

function checkTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw problem('invalid', `'${timezone}' is not a time zone`, {
      hint: 'Write its name in the tz database, such as UTC or Europe/Berlin.',
    });
  }
}

function scheduleOf(
  name: string,
  { spec, action, policies, memo, state, info }: ScheduleDescription,
): Omit<Schedule, 'temporal_url'> {
  const [input] = action.args ?? [];
  const { site, cluster } = isMapping(input) ? input : {};
  return {
    name,
    kind: action.workflowType,
    site: typeof site === 'string' ? site : null,
    cluster: typeof cluster === 'number' ? cluster : null,
    input,
    cron: cronOf(spec),
    timezone: spec.timezone || 'UTC',
    overlap: (policies.overlap ?? ScheduleOverlapPolicy.SKIP).toLowerCase(),
    paused: state.paused,
    note: state.note || null,
    next_times: info.nextActionTimes.map((at) => at.toISOString()),
    recent: info.recentActions
      .map(({ scheduledAt, takenAt, action: { workflow } }) => ({
        workflow_id: workflow.workflowId,
        run: workflow.firstExecutionRunId,
        scheduled_at: scheduledAt.toISOString(),
        started_at: takenAt.toISOString(),
      }))
      .reverse(),
    started: info.numActionsTaken,
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
    created_by: typeof memo?.created_by === 'string' ? memo.created_by : null,
    created_at: info.createdAt.toISOString(),
  };
}
