import { workflowInfo } from '@temporalio/workflow';
import * as z from 'zod/mini';
import type { GraphRunStatus } from '../../src/core/contracts/graph-run.ts';
import type { GraphRunNews } from '../../src/core/contracts/site-run.ts';
import { isMapping } from '../../src/core/data/plain-value.ts';
import { limit, lineOf, valueThat } from '../../src/core/data/schema.ts';
import { allOf, settledOf } from '../../src/core/graph-run/task-counts.ts';
import { MAX } from '../../src/core/run/description.ts';
import { type ReadRequest, readRequest } from '../../src/core/run/operator.ts';
import { signalParent } from '../run/border.ts';

/**
 * Sends one signal at a time. Each costs a round trip to the server, so whatever collects meanwhile is sent
 * with the next signal.
 */
export interface Courier {
  /** Sends the due message: now, or after the signal that is currently being sent. */
  send(): void;
  /** Resolves once everything is sent. */
  drain(): Promise<void>;
}

/**
 * @param next takes the due message; null if there is none
 * @param post resolves when the payload has arrived or the receiver has ended
 */
export function createCourier<T>(next: () => T | null, post: (payload: T) => Promise<void>): Courier {
  let sending: Promise<void> | null = null;

  async function deliver(first: T): Promise<void> {
    for (let payload: T | null = first; payload !== null; payload = next()) await post(payload);
    sending = null;
  }

  function send(): void {
    if (sending !== null) return;
    const first = next();
    if (first !== null) sending = deliver(first);
  }

  return {
    send,
    async drain() {
      send();
      await sending;
    },
  };
}

/** How often: less often the longer the run takes, so that the news of a week cost a few hundred events. */
const EVERY_MS = 10_000;
const SHARE = 0.2;

/** Reports progress to the site's run, of which this run is the last phase. */
interface News {
  /** Sends changes, if they are due. Returns when they will be (milliseconds), or null without changes. */
  send(): number | null;
}

/** Null for a run that no site's run started. */
export function createNews(startedAt: number, status: () => GraphRunStatus): News | null {
  if (workflowInfo().parent === undefined) return null;
  let last: { readonly at: number; readonly news: GraphRunNews } | null = null;

  /** When the status differs from the last one sent. */
  function dueAt(news: GraphRunNews): number | null {
    if (last === null || news.phase !== last.news.phase) return 0;
    const [now, before] = [news, last.news].map(({ counts, failing_nodes, silent }) =>
      [settledOf(counts), allOf(counts), failing_nodes, ...silent].join(),
    );
    return now === before ? null : last.at + Math.max(EVERY_MS, (last.at - startedAt) * SHARE);
  }

  const courier = createCourier<GraphRunNews>(
    () => {
      const news = newsOf(status());
      const due = dueAt(news);
      if (due === null || due > Date.now()) return null;
      last = { at: Date.now(), news };
      return news;
    },
    (news) => signalParent('graph_news', news),
  );
  return {
    send() {
      courier.send();
      return dueAt(newsOf(status()));
    },
  };
}

function newsOf({ phase, outcome, done, total, counts, failing_nodes, running, silent }: GraphRunStatus): GraphRunNews {
  return { phase: outcome ?? phase, done, total, counts, failing_nodes, running, silent };
}

const graphNews = z.strictObject({
  phase: lineOf(MAX.name),
  done: limit,
  total: limit,
  counts: valueThat<GraphRunNews['counts']>(
    (value) => isMapping(value) && Object.values(value).every(Number.isSafeInteger),
    'must be numbers of tasks by status',
  ),
  failing_nodes: limit,
  running: z.array(z.strictObject({ task: lineOf(MAX.name), node: lineOf(MAX.name) })),
  silent: z.array(lineOf(2 * MAX.name)),
});

/** Users may send this signal, too. One that could not be processed would block the workflow. */
export const readNews = (payload: unknown): ReadRequest<GraphRunNews> => readRequest(graphNews, payload);
