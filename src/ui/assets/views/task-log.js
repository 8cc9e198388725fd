import { useEffect, useRef, useState } from 'preact/hooks';
import { query } from '../api.js';
import { Choice } from '../ask.js';
import { html } from '../html.js';
import { Problem, State } from '../parts.js';
import { filterBy } from '../router.js';
import { follow, useData } from '../store.js';
import { placeOf, said } from '../words.js';
import { linkOf, NO_LOG } from './task-log-address.js';

/** More text than this is not kept on the page; the download has all. */
const MAX = 400_000;

/** So near its end a log goes on by itself; further up one is reading. */
const NEAR_END = 40;

/** The live output of a task: below everything else, until it is closed. */
export function TaskLog({ base, of, live, names }) {
  const [stream, setStream] = useState('stdout');
  const [attempt, setAttempt] = useState('');
  const [round, setRound] = useState(0);
  const [state, setState] = useState(NOTHING);
  const [box, heading] = [useRef(null), useRef(null)];
  const following = useRef(true);
  const { task, node } = of;
  const path = `${base}/nodes/${encodeURIComponent(node)}/tasks/${encodeURIComponent(task)}/log`;
  const text = placeOf(of, names);
  // The tries of the task, and whether a new one has started since.
  const rows = useData(`${base}/tasks${query({ nodes: node, name: task, limit: 100 })}`, {
    every: live ? 3_000 : undefined,
  });
  const row = rows.data?.items.find((one) => one.task === task && one.node === node);
  const tries = row?.attempts ?? 0;
  const known = rows.data !== undefined || rows.problem !== undefined;
  useEffect(() => {
    if (!known) return undefined;
    setState(NOTHING);
    following.current = true;
    let offset;
    return follow(
      () => `${path}${query({ stream, attempt, follow: live ? 'true' : '', offset })}`,
      (event, data, id) => {
        offset = id ?? offset;
        setState((before) => {
          if (event === 'output') return { ...before, text: (before.text + data.text).slice(-MAX), problem: undefined };
          if (event === 'gap')
            return { ...before, text: `${before.text}\n[${data.to - data.offset} bytes were dropped]\n` };
          if (event === 'ended') return { ...before, ended: data };
          if (event === 'problem') return { ...before, problem: data };
          return before;
        });
      },
      { once: !live },
    );
  }, [path, stream, attempt, live, round, known, attempt === '' ? tries : 0]);
  useEffect(() => {
    if (box.current && following.current) box.current.scrollTop = box.current.scrollHeight;
  }, [state.text]);
  const close = () => {
    filterBy(NO_LOG);
    // Back to where it was opened from.
    requestAnimationFrame(() => linkOf(of)?.focus());
  };
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    const onKey = (event) => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) close();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const scrolled = ({ target }) => {
    following.current = target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_END;
  };
  return html`<section class="log" aria-label=${`Log of ${text}`}>
    <div class="filters">
      <h2 tabindex="-1" ref=${heading}>Log of ${text} ${row && html`<${State} of=${row.status} />`}</h2>
      <${Choice} label="Stream" value=${stream} options=${[['stdout', 'output'], ['stderr', 'errors']]} onChange=${setStream} />
      ${
        tries > 1 &&
        html`<${Choice}
          label="Try"
          value=${attempt}
          options=${[['', `newest (${tries})`], ...Array.from({ length: tries - 1 }, (_, at) => [String(tries - 1 - at), String(tries - 1 - at)])]}
          onChange=${setAttempt}
        />`
      }
      <a href=${`${path}${query({ stream, attempt })}`} download=${`${task}@${node}.${stream}.log`}>Download</a>
      <button type="button" onClick=${close}>Close</button>
    </div>
    <${Problem} of=${state.problem} onRetry=${() => setRound(round + 1)} />
    ${state.problem === undefined && html`<pre ref=${box} tabindex="0" aria-label="Output" onScroll=${scrolled}>${state.text === '' ? 'Nothing printed yet.' : state.text}</pre>`}
    ${state.ended && html`<p class="quiet">Ended: ${said(state.ended.outcome)} ${state.ended.outcome === 'success' ? '' : state.ended.message}</p>`}
  </section>`;
}

const NOTHING = { text: '', ended: null, problem: undefined };
