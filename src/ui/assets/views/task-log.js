import { useEffect, useRef, useState } from 'preact/hooks';
import { query } from '../api.js';
import { html } from '../html.js';
import { Choice, Problem } from '../parts.js';
import { filterBy } from '../router.js';
import { follow } from '../store.js';

/** More text than this is not kept on the page; the download has all. */
const MOST = 400_000;

/** What a task printed, as it prints it. */
export function TaskLog({ base, task, live, names }) {
  const [stream, setStream] = useState('stdout');
  const [state, setState] = useState({ text: '', ended: null, problem: undefined });
  const place = useRef(null);
  const path = `${base}/logs/${encodeURIComponent(task)}`;
  useEffect(() => {
    setState({ text: '', ended: null, problem: undefined });
    let offset;
    return follow(
      () => `${path}${query({ stream, follow: live ? 'true' : '', offset })}`,
      (event, data, id) => {
        offset = id ?? offset;
        setState((before) => {
          if (event === 'output')
            return { ...before, text: (before.text + data.text).slice(-MOST), problem: undefined };
          if (event === 'gap')
            return { ...before, text: `${before.text}\n[${data.to - data.offset} bytes are not kept]\n` };
          if (event === 'ended') return { ...before, ended: data };
          if (event === 'problem') return { ...before, problem: data };
          return before;
        });
      },
      { once: !live },
    );
  }, [path, stream, live]);
  useEffect(() => {
    const box = place.current;
    if (box && live) box.scrollTop = box.scrollHeight;
  }, [state.text, live]);
  const at = task.lastIndexOf('@');
  const node = task.slice(at + 1);
  return html`<section class="log" aria-label=${`Log of ${task}`}>
    <div class="filters">
      <h2>Log of ${task.slice(0, at)} on ${names[node] ?? node}</h2>
      <${Choice} label="Stream" value=${stream} options=${[['stdout', 'output'], ['stderr', 'errors']]} onChange=${setStream} />
      <a href=${`${path}${query({ stream })}`} download=${`${task}.${stream}.log`}>Download</a>
      <button type="button" onClick=${() => filterBy({ log: '' })}>Close</button>
    </div>
    <${Problem} of=${state.problem} />
    <pre ref=${place} tabindex="0" aria-live="off">${state.text === '' && state.problem === undefined ? 'Nothing printed yet.' : state.text}</pre>
    ${state.ended && html`<p class="quiet">It ended: ${state.ended.outcome ?? ''} ${state.ended.message ?? ''}</p>`}
  </section>`;
}
