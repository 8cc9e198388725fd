import { useEffect, useState } from 'preact/hooks';
import { STDERR_MARK } from '../../core/text/marked-output.ts';
import { type Answer, at, get, type Problem as Refusal } from '../kit/api.ts';
import { Search } from '../kit/ask.tsx';
import type { Names } from '../kit/names.ts';
import { Problem } from '../kit/parts.tsx';
import { addressWith, filterBy } from '../kit/router.ts';
import { problemOf } from '../kit/store.ts';
import { placeOf, said } from '../kit/words.ts';
import { logOf, StreamChoice, useFollowing } from './log-tools.tsx';

const PAGE = 300;
/** Of a long log that goes on, the page keeps the newest lines; the earlier ones are asked for again. */
const MAX = 5_000;
const TAIL_MS = 1_000;

type Page = Answer<'GET /runs/:run/logs'>;

interface Shown {
  readonly items: Page['items'] | null;
  readonly earlier: string | null;
  readonly problem: Refusal | undefined;
}

interface RunLogProps {
  readonly id: string;
  readonly live: boolean;
  readonly node: string;
  readonly query: URLSearchParams;
  readonly names: Names;
}

/** The output of all tasks of a run as it arrives, with times and search, live while the run is open. */
export function RunLog({ id, live, node, query, names }: RunLogProps) {
  const [search, stream] = [query.get('find') ?? '', query.get('stream') ?? ''];
  const [state, setState] = useState<Shown>(NOTHING);
  const [round, setRound] = useState(0);
  const { following, props } = useFollowing<HTMLOListElement>(state.items);
  const address = (from: { readonly before?: string; readonly after?: string }) =>
    at('GET /runs/:run/logs', { params: { run: id }, query: { search, stream, node, limit: PAGE, ...from } });
  useEffect(() => {
    const stop = new AbortController();
    let timer: number | undefined;
    let later: string | null = null;
    following.current = true;
    const ask = async (): Promise<void> => {
      try {
        const page: Page = await get(address(later === null ? {} : { after: later }), stop.signal);
        const isFirst = later === null;
        // Without a line, and before the first piece of output, there is nothing to go on from.
        later = page.later;
        setState((before) => (isFirst ? { ...page, problem: undefined } : joined(before, page)));
        if (page.items.length >= PAGE && !isFirst) return void ask();
      } catch (error) {
        if (stop.signal.aborted) return;
        setState((before) => ({ ...before, problem: problemOf(error) }));
      }
      if (live && !stop.signal.aborted) timer = setTimeout(() => void ask(), document.hidden ? 10 * TAIL_MS : TAIL_MS);
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [id, live, search, stream, node, round]);
  const showEarlier = async () => {
    following.current = false;
    if (state.earlier === null) return;
    const page = await get(address({ before: state.earlier }));
    setState((before) => ({ ...before, items: [...page.items, ...(before.items ?? [])], earlier: page.earlier }));
  };
  const { items, earlier, problem } = state;
  const again = beginnings(items ?? []);
  return (
    <>
      <div class="filters" role="search">
        <Search label="Search the log" value={search} onChange={(find) => filterBy({ find })} />
        <StreamChoice value={stream} onChange={(value) => filterBy({ stream: value })} />
      </div>
      <Problem of={problem} onRetry={() => setRound(round + 1)} />
      {earlier !== null && (
        <p>
          <button type="button" onClick={() => void showEarlier()}>
            Show earlier lines
          </button>
        </p>
      )}
      {items !== null &&
        (items.length === 0 ? (
          <p class="quiet">{nothing(search, earlier, live)}</p>
        ) : (
          <ol class="run-log" aria-label="Log of the run" {...props}>
            {items.map((line, at) => (
              <Line key={`${line.place}/${at}`} of={line} names={names} begins={again.has(at)} />
            ))}
          </ol>
        ))}
    </>
  );
}

const NOTHING: Shown = { items: null, earlier: null, problem: undefined };

const nothing = (search: string, earlier: string | null, live: boolean): string => {
  if (earlier !== null) return 'Nothing among the newest lines.';
  if (search !== '') return `No line with “${search}”.`;
  return live ? 'Nothing printed yet.' : 'Nothing was printed, or its log is no longer kept.';
};

function joined(before: Shown, page: Page): Shown {
  if (page.items.length === 0) return { ...before, problem: undefined };
  const all = [...(before.items ?? []), ...page.items];
  const isCut = all.length > MAX;
  const items = isCut ? all.slice(-MAX) : all;
  return { items, earlier: isCut ? (items[0]?.place ?? null) : before.earlier, problem: undefined };
}

/** Where tasks begin another attempt. */
function beginnings(items: Page['items']): ReadonlySet<number> {
  const seen = new Set<string>();
  const key = ({ task, node, attempt }: Page['items'][number]) => JSON.stringify([task, node, attempt]);
  return new Set(items.flatMap((one, at) => (one.attempt > 1 && !seen.has(key(one)) && seen.add(key(one)) ? at : [])));
}

const Line = ({
  of,
  names,
  begins,
}: {
  readonly of: Page['items'][number];
  readonly names: Names;
  readonly begins: boolean;
}) => {
  const again = of.attempt > 1 ? ` (attempt ${of.attempt})` : '';
  return (
    <li class={`${of.stream === 'stderr' ? 'bad' : of.stream === 'ended' ? 'quiet' : ''}${begins ? ' begins' : ''}`}>
      <time datetime={of.at} title={of.at}>
        {new Date(of.at).toLocaleTimeString(undefined, CLOCK)}
      </time>
      <a href={addressWith(logOf(of))} data-stay data-log={of.task} data-log-node={of.node}>
        {placeOf(of, names)}
        {again}
      </a>
      <span>
        {of.stream === 'ended' ? `ended: ${said(of.text)}` : `${of.stream === 'stderr' ? STDERR_MARK : ''}${of.text}`}
      </span>
    </li>
  );
};

const CLOCK: Intl.DateTimeFormatOptions = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
};
