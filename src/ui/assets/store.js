import { computed, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiProblem, answersOfApi, get, readEvents } from './api.js';

/** Poll interval where no event announces changes. */
const POLL_MS = 5_000;
const SLOW_MS = 20_000;

/** Increases with every change of runs, sites or clusters: views of them read it and reload. */
export const listsChanged = signal(0);

/** Since when the API does not answer; null while it does. Every answer counts: of lists, of events, of actions. */
export const awaySince = signal(null);
answersOfApi((isThere) => {
  if (isThere) awaySince.value = null;
  else awaySince.value ??= new Date();
});

/** Since when the services behind the API (Temporal, its store) have given no news, with the problem. */
export const silentSince = signal(null);

/** Since when the page is stale; null while it is current. */
export const staleSince = computed(() => awaySince.value ?? silentSince.value?.at ?? null);

/**
 * Data of the API for as long as a view shows it: `{data, problem, loading, reload}`. `path` null asks nothing. It is
 * asked again when `again` changes, and every `every` milliseconds where that is given.
 */
export function useData(path, { again, every } = {}) {
  const state = useMemo(() => signal({ data: undefined, problem: undefined, path: null }), []);
  const poll = useMemo(() => ({ ask: () => undefined }), []);
  useEffect(() => {
    if (path === null) {
      state.value = { data: undefined, problem: undefined, path };
      return undefined;
    }
    const stop = new AbortController();
    let timer;
    const ask = async () => {
      clearTimeout(timer);
      try {
        const data = await get(path, stop.signal);
        state.value = { data, problem: undefined, path };
      } catch (error) {
        if (stop.signal.aborted) return;
        // Old data stays: a short outage should not blank the page.
        const kept = state.value.path === path ? state.value.data : undefined;
        state.value = { data: kept, problem: problemOf(error), path };
      }
      if (every !== undefined && !stop.signal.aborted) timer = setTimeout(ask, document.hidden ? SLOW_MS : every);
    };
    poll.ask = ask;
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, again, every]);
  const { data, problem, path: of } = state.value;
  const fresh = of === path;
  return {
    data: fresh || sameBase(of, path) ? data : undefined,
    problem: fresh ? problem : undefined,
    loading: path !== null && (!fresh || (data === undefined && problem === undefined)),
    reload: () => poll.ask(),
  };
}

/** Another page or filter of the same list: the old rows stay until the new ones are there. */
const sameBase = (a, b) => a !== null && b !== null && a.split('?')[0] === b.split('?')[0];

export const problemOf = (error) =>
  error instanceof ApiProblem ? error.problem : { code: 'page', detail: String(error?.message ?? error) };

/**
 * Watches a stream of tables (docs/rest.md, Watch live) while a view shows it, and continues after breaks.
 * Returns `{tables, ended, problem}`, where each table is a plain object; while there is a problem, the data is stale.
 */
export function useEvents(path) {
  const state = useMemo(() => signal({ tables: null, ended: false, problem: undefined }), [path]);
  useEffect(() => {
    if (path === null) return undefined;
    const stop = follow(
      () => path,
      (event, data) => {
        const { tables } = state.value;
        if (event === 'all' || event === 'changes') silentSince.value = null;
        if (event === 'all') state.value = { ...state.value, tables: data, problem: undefined };
        if (event === 'changes' && tables !== null)
          state.value = { ...state.value, tables: merged(tables, data), problem: undefined };
        if (event === 'problem') {
          const problem = { ...data, detail: data.message };
          state.value = { ...state.value, problem };
          if (tables !== null) silentSince.value ??= { at: new Date(), problem };
        }
        if (event === 'end') state.value = { ...state.value, ended: true };
      },
    );
    return () => {
      stop();
      silentSince.value = null;
    };
  }, [path]);
  return state.value;
}

function merged(tables, changes) {
  const all = { ...tables };
  for (const [name, entries] of Object.entries(changes)) {
    const table = { ...all[name] };
    for (const [key, value] of Object.entries(entries)) {
      if (value === null && name !== 'run' && name !== 'status') delete table[key];
      else table[key] = value;
    }
    all[name] = table;
  }
  return all;
}

/**
 * Reads events until they end or it is stopped; after a break it reconnects, at first immediately. `pathOf()` may
 * have the position to continue from. `once`: a stream that ends is over.
 */
export function follow(pathOf, on, { once = false } = {}) {
  const stop = new AbortController();
  let wait = 500;
  let over = false;
  const turn = async () => {
    while (!stop.signal.aborted && !over) {
      try {
        await readEvents(
          pathOf(),
          (event, data, id) => {
            wait = 500;
            if (event === 'end' || event === 'ended') over = true;
            on(event, data, id);
          },
          stop.signal,
        );
        over ||= once;
      } catch (error) {
        if (stop.signal.aborted) return;
        const { problem } = error;
        if (problem?.status === 404 || problem?.status === 401)
          return on('problem', { ...problem, message: problem.detail });
      }
      if (over || stop.signal.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, 10_000);
    }
  };
  void turn();
  return () => stop.abort();
}

/** Refreshes all lists when something changed: on events, and on a timer where no events arrive. */
export function watchLists() {
  let first = true;
  follow(
    () => '/api/v1/events',
    (event) => {
      if (event === 'changes' || (event === 'all' && !first)) listsChanged.value++;
      if (event === 'all') first = false;
    },
  );
  setInterval(() => {
    if (staleSince.value !== null && !document.hidden) listsChanged.value++;
  }, POLL_MS);
}
