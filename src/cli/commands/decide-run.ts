import { numberOf } from '../../core/run/subject.ts';
import {
  type RolloutVerb,
  type RunDecision,
  type RunWork,
  WORK_AFTER,
  workOfGraphs,
  workOfSite,
} from '../../core/run-work.ts';
import { someOf } from '../../core/text/text.ts';
import type { Answer, ApiClient } from '../shell/client.ts';
import { confirm, DRY_RUN } from '../shell/confirm.ts';
import type { Terminal } from '../shell/terminal.ts';

type Run = Pick<Answer<'GET /runs/:run'>, 'id' | 'number' | 'cluster'>;

interface Decision {
  readonly verb: RunDecision;
  /** Waiting for approval. */
  readonly before?: string | undefined;
  /** With the rollout that is meant; default: any. */
  readonly group?: string | undefined;
  readonly yes?: boolean | undefined;
  /** Whether people are asked; else the question is only part of a dry run. */
  readonly asks: boolean;
}

/** Asks before a decision about an open run, with the nodes or tasks that it touches, by name. */
export async function confirmDecision(
  terminal: Terminal,
  client: ApiClient,
  run: Run,
  { verb, before, group, yes, asks }: Decision,
): Promise<void> {
  const isDry = (yes as unknown) === DRY_RUN;
  if (!isDry && (yes || !asks || !terminal.interactive)) return;
  // Without the names, people still decide.
  const work = await workOf(client, run, before, group).catch(() => undefined);
  const text = work === undefined ? '' : workText(verb, work);
  const what = isRolloutVerb(verb)
    ? `${ROLLOUT[verb]} the rollout${group === undefined ? '' : ` of group ${group}`} in run ${numberOf(run)}?`
    : `${verb.charAt(0).toUpperCase()}${verb.slice(1)} run ${numberOf(run)}${before === undefined ? '' : ` before ${before}`}?`;
  await confirm(terminal, `${text}${what}`, yes, 'asked');
}

const ROLLOUT: Readonly<Record<RolloutVerb, string>> = { promote: 'Promote', hold: 'Hold', 'abort-rollout': 'Abort' };

const isRolloutVerb = (verb: RunDecision): verb is RolloutVerb => Object.hasOwn(ROLLOUT, verb);

async function workOf(
  client: ApiClient,
  { id, cluster }: Run,
  before: string | undefined,
  group: string | undefined,
): Promise<RunWork> {
  const params = { run: id };
  if (cluster === null) {
    const [{ plan }, { items }] = await Promise.all([
      client.call('GET /runs/:run/plan', { params }),
      client.call('GET /runs/:run/nodes', { params }),
    ]);
    return workOfSite(items, plan !== null && 'groups' in plan ? plan.groups : [], before, group);
  }
  const query = { statuses: 'waiting,running,retrying', limit: 1000 };
  const [{ items }, nodes] = await Promise.all([
    client.call('GET /runs/:run/tasks', { params, query }),
    client.call('GET /nodes', { query: { cluster_id: String(cluster) } }),
  ]);
  const names = new Map(nodes.map((node) => [String(node.id), node.name]));
  return workOfGraphs(items, (node) => names.get(node) ?? node, before);
}

function workText(verb: RunDecision, { running, next }: RunWork): string {
  const line = (names: readonly string[], becomes: string): string =>
    names.length === 0 ? '' : `${becomes}: ${someOf(names, SHOWN)}\n`;
  const { running: now, next: then } = WORK_AFTER[verb];
  return `${line(running, `running, ${now}`)}${line(next, `still to do, ${then}`)}`;
}

const SHOWN = 20;
