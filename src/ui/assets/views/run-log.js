import { useEffect, useRef, useState } from 'preact/hooks';
import { get, query as queryOf } from '../api.js';
import { Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { Problem } from '../parts.js';
import { addressWith, filterBy } from '../router.js';
import { problemOf } from '../store.js';
import { placeOf, said } from '../words.js';
import { logOf } from './task-log-address.js';

const PAGE = 300;
/** Of a long log that goes on, the page keeps the newest lines; the earlier ones are asked for again. */
const MAX = 5_000;
const TAIL_MS = 1_000;
/** So near its end the log goes on by itself; further up someone is reading. */
const NEAR_END = 40;

/** The output of all tasks of a run as it arrives, with times and search, live while the run is open. */
export function RunLog({ base, live, node, query, names }) {
  const [search, stream] = [query.get('find') ?? '', query.get('stream') ?? ''];
  const [state, setState] = useState(NOTHING);
  const [round, setRound] = useState(0);
  const box = useRef(null);
  const following = useRef(true);
  const path = (fields) => `${base}/logs${queryOf({ search, stream, node, limit: PAGE, ...fields })}`;
  useEffect(() => {
    const stop = new AbortController();
    let timer;
    let later = null;
    following.current = true;
    const ask = async () => {
      try {
        const page = await get(path(later === null ? {} : { after: later }), stop.signal);
        const isFirst = later === null;
        // Without a line, and before the first piece of output, there is nothing to go on from.
        later = page.later;
        setState((before) => (isFirst ? { ...page, problem: undefined } : joined(before, page)));
        if (page.items.length >= PAGE && !isFirst) return void ask();
      } catch (error) {
        if (stop.signal.aborted) return;
        setState((before) => ({ ...before, problem: problemOf(error) }));
      }
      if (live && !stop.signal.aborted) timer = setTimeout(ask, document.hidden ? 10 * TAIL_MS : TAIL_MS);
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [base, live, search, stream, node, round]);
  useEffect(() => {
    if (box.current && following.current) box.current.scrollTop = box.current.scrollHeight;
  }, [state.items]);
  const showEarlier = async () => {
    following.current = false;
    const page = await get(path({ before: state.earlier }));
    setState((before) => ({ ...before, items: [...page.items, ...before.items], earlier: page.earlier }));
  };
  const scrolled = ({ target }) => {
    following.current = target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_END;
  };
  const { items, earlier, problem } = state;
  return html`<div class="filters" role="search">
      <${Search} label="Search the log" value=${search} onChange=${(find) => filterBy({ find })} />
      <${Choice}
        label="Stream"
        value=${stream}
        options=${[['', 'all'], ['stdout', 'output'], ['stderr', 'errors']]}
        onChange=${(value) => filterBy({ stream: value })}
      />
    </div>
    <${Problem} of=${problem} onRetry=${() => setRound(round + 1)} />
    ${earlier !== null && html`<p><button type="button" onClick=${showEarlier}>Show earlier lines</button></p>`}
    ${
      items !== null &&
      (items.length === 0
        ? html`<p class="quiet">${nothing(search, earlier, live)}</p>`
        : html`<ol class="run-log" ref=${box} tabindex="0" aria-label="Log of the run" onScroll=${scrolled}>
            ${items.map((line, at) => html`<${Line} key=${`${line.place}/${at}`} of=${line} names=${names} />`)}
          </ol>`)
    }`;
}

const NOTHING = { items: null, earlier: null, problem: undefined };

const nothing = (search, earlier, live) => {
  if (earlier !== null) return 'Nothing among the newest lines.';
  if (search !== '') return `No line with “${search}”.`;
  return live ? 'Nothing printed yet.' : 'Nothing was printed, or its log is no longer kept.';
};

function joined(before, page) {
  if (page.items.length === 0) return { ...before, problem: undefined };
  const all = [...(before.items ?? []), ...page.items];
  const isCut = all.length > MAX;
  const items = isCut ? all.slice(-MAX) : all;
  return { items, earlier: isCut ? items[0].place : before.earlier, problem: undefined };
}

const Line = ({ of, names }) => {
  const again = of.attempt > 1 ? ` (attempt ${of.attempt})` : '';
  return html`<li class=${of.stream === 'stderr' ? 'bad' : of.stream === 'ended' ? 'quiet' : ''}>
    <time datetime=${of.at} title=${of.at}>${new Date(of.at).toLocaleTimeString(undefined, CLOCK)}</time>
    <a href=${addressWith(logOf(of))} data-stay data-log=${of.task} data-log-node=${of.node}>${placeOf(of, names)}${again}</a>
    <span>${of.stream === 'ended' ? `ended: ${said(of.text)}` : of.text}</span>
  </li>`;
};

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hour12: false };
