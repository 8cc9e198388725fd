import { computed, signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunFrame } from '../../core/contracts/run-tasks.ts';
import {
  type Address,
  type Answer,
  ApiProblem,
  askSignIn,
  awaySince,
  get,
  noteAnswer,
  type Problem,
  type Route,
  readEvents,
  type StreamEvent,
} from './api.ts';
import { Live, type News, SAY_AGAIN_MS, type Wanted } from './live.ts';

/** Poll interval where no event announces changes. */
const POLL_MS = 5_000;
const SLOW_MS = 20_000;
/** The first wait after a request that failed; later ones are longer. */
const RETRY_MS = 1_000;

/** Increases with every change of runs, sites or clusters: views of them read it and reload. */
export const listsChanged = signal(0);

/** Since when the services behind the API (Temporal, its store) have given no news, with the problem. */
export const silentSince = signal<{ readonly at: Date; readonly problem: Problem } | null>(null);

/** Since when the page is stale; null while it is current. */
export const staleSince = computed(() => awaySince.value ?? silentSince.value?.at ?? null);

/** Data of the API, or why there is none. */
export interface Loading<Data> {
  readonly data: Data | undefined;
  readonly problem: Problem | undefined;
  readonly loading: boolean;
  readonly reload: () => void;
}

interface Asked<Data> {
  readonly data: Data | undefined;
  readonly problem: Problem | undefined;
  readonly address: string | null;
}

interface DataOptions {
  /** It is asked again when this changes. */
  readonly again?: string | number | null | undefined;
  /** It is asked again after so many milliseconds. */
  readonly every?: number | undefined;
}

/** Data of the API for as long as a view shows it. `address` null asks nothing. */
export const useData = <R extends Route>(address: Address<R> | null, options: DataOptions = {}): Loading<Answer<R>> =>
  useRead<Answer<R>>(address, (signal) => get(address as Address<R>, signal), options);

interface PageOf<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/**
 * All items of a list that the API answers in pages. `key` stands for the list, and changes with it; null asks nothing.
 */
export const useAll = <Item>(
  key: string | null,
  pageAt: (before: string, signal: AbortSignal) => Promise<PageOf<Item>>,
  options: DataOptions = {},
): Loading<readonly Item[]> =>
  useRead(
    key,
    async (signal) => {
      const all: Item[] = [];
      for (let before: string | null = ''; before !== null; ) {
        const { items, next }: PageOf<Item> = await pageAt(before, signal);
        all.push(...items);
        before = next;
      }
      return all;
    },
    options,
  );

/**
 * What `read` reads from `address`, or what else stands for it, and again when that changes; null reads nothing. Only the newest
 * answer for the newest address counts.
 */
export function useRead<Data>(
  address: string | null,
  read: (signal: AbortSignal) => Promise<Data>,
  { again, every }: DataOptions = {},
): Loading<Data> {
  const state = useMemo(() => signal<Asked<Data>>({ data: undefined, problem: undefined, address: null }), []);
  const poll = useMemo<{ ask: () => unknown; again: DataOptions['again'] }>(
    () => ({ ask: () => undefined, again }),
    [],
  );
  useEffect(() => {
    poll.again = again;
    if (address === null) {
      poll.ask = () => undefined;
      state.value = { data: undefined, problem: undefined, address };
      return undefined;
    }
    const stop = new AbortController();
    let timer: number | undefined;
    let isAsking = false;
    let isOutdated = false;
    let failures = 0;
    const readOnce = async (): Promise<void> => {
      try {
        const data = await read(stop.signal);
        if (stop.signal.aborted) return;
        state.value = { data, problem: undefined, address };
        failures = 0;
      } catch (error) {
        if (stop.signal.aborted) return;
        // Old data stays: a short outage should not blank the page.
        const kept = state.value.address === address ? state.value.data : undefined;
        const problem = problemOf(error);
        state.value = { data: kept, problem, address };
        failures = mayPass(problem) ? failures + 1 : 0;
      }
    };
    const ask = async (): Promise<void> => {
      // An answer on its way is never given up for a newer one: of something that changes all the time none would come.
      isOutdated = true;
      if (isAsking) return;
      isAsking = true;
      clearTimeout(timer);
      while (isOutdated && !stop.signal.aborted) {
        isOutdated = false;
        await readOnce();
      }
      isAsking = false;
      const wait = failures > 0 ? Math.min(RETRY_MS * 2 ** (failures - 1), every ?? POLL_MS) : every;
      if (wait !== undefined && !stop.signal.aborted)
        timer = setTimeout(() => void ask(), document.hidden ? SLOW_MS : wait);
    };
    poll.ask = ask;
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [address, every]);
  useEffect(() => {
    if (poll.again === again) return;
    poll.again = again;
    poll.ask();
  }, [again]);
  const { data, problem, address: of } = state.value;
  const fresh = of === address;
  return {
    data: fresh || sameBase(of, address) ? data : undefined,
    problem: fresh ? problem : undefined,
    loading: address !== null && (!fresh || (data === undefined && problem === undefined)),
    reload: () => void poll.ask(),
  };
}

/** After a change, how long what is being written waits for the next one. */
export const TYPING_MS = 300;

/** What the API says of what is being written, as `key` has it; the last answer stays until the next one. Null asks nothing. */
export function useTyped<Data>(
  key: string | null,
  ask: () => Promise<Data>,
): Partial<Pick<Loading<Data>, 'data' | 'problem'>> {
  const [state, setState] = useState<ReturnType<typeof useTyped<Data>>>({});
  useEffect(() => {
    if (key === null) return setState({});
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const next = await ask().then(
        (data) => () => ({ data }),
        (error: unknown) => (before: typeof state) => ({ ...before, problem: problemOf(error) }),
      );
      if (!stop.signal.aborted) setState(next);
    }, TYPING_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return state;
}

/** Not a refusal: asked again, it may be answered. */
const mayPass = ({ status }: Problem): boolean => status === undefined || status >= 500 || status === 429;

/** Another page or filter of the same list: the old rows stay until the new ones are there. */
const sameBase = (a: string | null, b: string | null): boolean =>
  a !== null && b !== null && a.split('?')[0] === b.split('?')[0];

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const problemOf = (error: unknown): Problem =>
  error instanceof ApiProblem ? error.problem : { code: 'page', detail: messageOf(error) };

interface Watched {
  readonly tables: RunFrame | null;
  readonly ended: boolean;
  readonly problem: Problem | undefined;
}

/** Watches a run (docs/reference/rest.md, Watch live) while a view shows it, and continues after breaks; while there is a problem, the data is stale. */
export function useRun(run: string): Watched {
  const state = useMemo(() => signal<Watched>({ tables: null, ended: false, problem: undefined }), [run]);
  useEffect(() => {
    const stop = hearOf(run, (one) => {
      const { tables } = state.value;
      if (one.event === 'all' || one.event === 'changes') silentSince.value = null;
      if (one.event === 'all') state.value = { ...state.value, tables: one.data, problem: undefined };
      if (one.event === 'changes' && tables !== null)
        state.value = { ...state.value, tables: merged(tables, one.data), problem: undefined };
      if (one.event === 'problem') {
        const problem = { ...one.data, detail: one.data.message };
        state.value = { ...state.value, problem };
        if (tables !== null) silentSince.value ??= { at: new Date(), problem };
      }
      if (one.event === 'end') state.value = { ...state.value, ended: true };
    });
    return () => {
      stop();
      silentSince.value = null;
    };
  }, [run]);
  return state.value;
}

type RunEvent = Extract<StreamEvent<'GET /events'>, { readonly event: 'run' }>['data']['of'];
type Changes = Extract<RunEvent, { readonly event: 'changes' }>['data'];

function merged(tables: RunFrame, changes: Changes): RunFrame {
  const all: Record<string, object | undefined> = { ...tables };
  for (const [name, entries] of Object.entries(changes)) {
    const table: Record<string, unknown> = { ...all[name] };
    for (const [key, value] of Object.entries(entries ?? {})) {
      if (value === null && name !== 'run' && name !== 'status') delete table[key];
      else table[key] = value;
    }
    all[name] = table;
  }
  return all as unknown as RunFrame;
}

interface Following<R extends Route> {
  /** It may have the position to continue from. */
  readonly addressOf: () => Address<R>;
  readonly on: (event: StreamEvent<R>) => void;
  /** There is nothing to follow, or this user may not. */
  readonly refused: (problem: Problem) => void;
  /** Once read to its end it is read on, until its last event. */
  readonly live: boolean;
}

/** Reads events as far as there are any; of what is live again and again, so that no connection is held. */
export function follow<R extends Route>({ addressOf, on, refused, live }: Following<R>): () => void {
  const stop = new AbortController();
  let failures = 0;
  let over = false;
  const turn = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await readEvents(
          addressOf(),
          (one) => {
            over ||= 'event' in one && one.event === 'ended';
            on(one);
          },
          stop.signal,
        );
        if (over || !live) return;
        failures = 0;
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem = problemOf(error);
        // Of what is live there may be nothing yet.
        const isMissing = problem.status === 404;
        if ((isMissing && !live) || problem.status === 401) return refused(problem);
        failures = isMissing ? 0 : failures + 1;
      }
      const wait = document.hidden ? SLOW_MS : Math.min(RETRY_MS * 2 ** failures, SLOW_MS);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
  void turn();
  return () => stop.abort();
}

/** Runs that this tab shows, and who hears of them. */
const shownRuns = new Map<string, Set<(event: RunEvent) => void>>();
/** To the stream of all tabs. */
let port: MessagePort | undefined;

/** Says what this tab wants to hear of: nothing while nobody sees it. */
const sayWanted = (): void => {
  const wanted: Wanted = { runs: document.hidden ? null : [...shownRuns.keys()] };
  port?.postMessage(wanted);
};

function hearOf(run: string, on: (event: RunEvent) => void): () => void {
  const listeners = shownRuns.get(run) ?? new Set();
  shownRuns.set(run, listeners.add(on));
  sayWanted();
  return () => {
    listeners.delete(on);
    if (listeners.size === 0) shownRuns.delete(run);
    sayWanted();
  };
}

function hear({ data: news }: MessageEvent<News>): void {
  if (news.kind === 'answer') noteAnswer(news.isThere);
  if (news.kind === 'refused') askSignIn(news.problem, news.ended);
  if (news.kind !== 'event') return;
  const { event } = news;
  if (event.event === 'run') for (const on of shownRuns.get(event.data.run) ?? []) on(event.data.of);
  // Also as the stream begins: what changed between the first request of a list and that, no event tells.
  if (event.event === 'changes' || event.event === 'all') listsChanged.value++;
}

/** Where the browser has none of its own, or cannot start it, the stream is this tab's. */
function joinHere(): void {
  const channel = new MessageChannel();
  new Live().join(channel.port1);
  joinBy(channel.port2);
}

function joinBy(to: MessagePort): void {
  port = to;
  port.onmessage = hear;
  sayWanted();
}

/** Hears of what changes, from the one stream of all tabs, and on a timer where no events arrive: lists are asked for again. */
export function watchLists(): void {
  if (typeof SharedWorker === 'undefined') joinHere();
  else {
    const worker = new SharedWorker('/assets/live.js', { name: 'sitewright', type: 'module' });
    worker.onerror = joinHere;
    joinBy(worker.port);
  }
  setInterval(sayWanted, SAY_AGAIN_MS);
  document.addEventListener('visibilitychange', sayWanted);
  addEventListener('pageshow', sayWanted);
  addEventListener('pagehide', () => port?.postMessage({ runs: null } satisfies Wanted));
  setInterval(() => {
    if (staleSince.value !== null && !document.hidden) listsChanged.value++;
  }, POLL_MS);
}
