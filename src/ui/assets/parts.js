// Small parts that all views are made of.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { addressWith, filterBy } from './router.js';
import { lookOf, said, standingOf } from './words.js';

/** A state as a word with a coloured mark: never by colour alone. */
export const State = ({ of, children }) => html`<span class=${`state ${lookOf(of)}`}>${children ?? said(of)}</span>`;

/** The state of a run. */
export function RunState({ run }) {
  const { look, text } = standingOf(run);
  return html`<span class=${`state ${look}`}>${text}</span>`;
}

/** A refusal of the API, with the next step. */
export function Problem({ of, onRetry }) {
  if (of === undefined || of === null) return null;
  const errors = of.errors ?? [];
  // A repeated error is already shown.
  const more = errors.length > 1 || (errors[0] && errors[0].message !== (of.detail ?? of.message)) ? errors : [];
  return html`<div class="problem" role="alert">
    <p><strong>${of.detail ?? of.message}</strong></p>
    ${of.hint && html`<p>${of.hint}</p>`}
    ${
      more.length > 0 &&
      html`<ul>
      ${more
        .slice(0, 20)
        .map(
          (one) =>
            html`<li>${[one.file, one.line, one.path].filter(Boolean).join(':')} ${one.message} ${one.hint}</li>`,
        )}
      ${more.length > 20 && html`<li>and ${more.length - 20} more</li>`}
    </ul>`
    }
    ${of.run?.id && html`<p><a href=${`/runs/${of.run.id}`}>Show the conflicting run</a></p>`}
    ${onRetry && html`<button type="button" onClick=${onRetry}>Retry</button>`}
  </div>`;
}

/** Data, or why there is none. */
export function Loaded({ from, children }) {
  const { data, problem, loading, reload } = from;
  // An unreachable API is shown once, at the top.
  const own = problem?.code === 'away' && data !== undefined ? undefined : problem;
  return html`<${Problem} of=${own} onRetry=${reload} />
    ${data === undefined ? loading && html`<p class="quiet" role="status">Loading …</p>` : children(data)}`;
}

/** The head of a view, which also names the document. `trail`: where it lies, as `[href, text]`. */
export function Title({ children, of, actions, trail = [] }) {
  useEffect(() => {
    document.title = `${of} · Sitewright`;
  }, [of]);
  return html`${
    trail.length > 0 &&
    html`<nav class="trail" aria-label="Breadcrumb">
      ${trail.map(([href, text]) => html`<a key=${href} href=${href}>${text}</a><span aria-hidden="true"> / </span>`)}
    </nav>`
  }
    <header class="title">
      <h1 tabindex="-1">${children ?? of}</h1>
      ${actions && html`<div class="actions">${actions}</div>`}
    </header>`;
}

/** The page of something that is not there, or not to be had: why, and the way back. */
export const Missing = ({ of, problem, list, onRetry }) => html`<${Title} of=${of} trail=${[list]} />
  <${Problem} of=${problem} onRetry=${problem.status === 404 || problem.status === 400 ? undefined : onRetry} />
  <p><a href=${list[0]}>Show all ${list[1].toLowerCase()}</a></p>`;

/** An empty list, with the next step. */
export const Empty = ({ title, children }) => html`<div class="empty">
  <p><strong>${title}</strong></p>
  ${children}
</div>`;

/** A command to type, which a button copies. */
export function Command({ text }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      say('Copied.');
    } catch {
      say('The browser does not allow copying: select the text instead.');
    }
  };
  return html`<div class="command">
    <code>${text}</code>
    ${navigator.clipboard && html`<button type="button" aria-label=${`Copy ${text}`} onClick=${copy}>${copied ? 'Copied' : 'Copy'}</button>`}
  </div>`;
}

/** `done` of `total`, as a bar and as text; `badly` describes the `bad` ones. */
export const Progress = ({ done, total, bad = 0, badly = `${bad} failed`, what = 'nodes', small = false }) => html`<div
  class=${small ? 'progress small' : 'progress'}
>
  <div class="bar" aria-hidden="true">
    <span class="good" style=${{ width: `${share(done - bad, total)}%` }}></span
    >${bad > 0 && html`<span class="failed" style=${{ width: `${share(bad, total)}%` }}></span>`}
  </div>
  <span>${done.toLocaleString()} / ${total.toLocaleString()} ${what}${bad > 0 ? html`, <span class="bad">${badly}</span>` : ''}</span>
</div>`;

const share = (part, whole) => (whole === 0 ? 0 : (100 * part) / whole);

/**
 * Views of one thing, in the address: `views` are `[key, text]`, the first is shown where none is named. `clears`:
 * fields of the address that belong to one of them.
 */
export function Tabs({ views, current, clears = {} }) {
  const addressOf = (key) => addressWith({ ...clears, view: key === views[0][0] ? '' : key });
  return html`<nav class="tabs" aria-label="Views">
    ${views.map(
      ([key, text]) =>
        html`<a key=${key} href=${addressOf(key)} data-stay aria-current=${key === current ? 'true' : undefined}>${text}</a>`,
    )}
  </nav>`;
}

/** Few enough for their names to be read. */
const NAMED = 48;

/**
 * A cell for each node: a thousand of them at a glance; with names if they are few. `cells`:
 * `{key, name, look, note, text, away?}`, `text` being all of it in words.
 */
export const Cells = ({ label, cells, chosen, onChoose }) =>
  cells.length > 0 &&
  html`<div class=${cells.length > NAMED ? 'grid' : 'grid named'} role="group" aria-label=${label}>
    ${cells.map(
      (one) => html`<button
        type="button"
        key=${one.key}
        class=${`cell ${one.look}${one.away ? ' away' : ''}`}
        title=${one.text}
        aria-label=${cells.length > NAMED ? one.text : undefined}
        aria-pressed=${chosen === undefined ? undefined : chosen === one.name || chosen === one.key}
        onClick=${() => onChoose(one)}
      >
        ${cells.length <= NAMED && html`<span class="name">${one.name}</span><span class="note">${one.note}</span>`}
      </button>`,
    )}
  </div>`;

/** How many there are of each state; a click shows only those. `counts`: `[state, number]`. */
export const Counts = ({
  label,
  counts,
  chosen,
  onChoose,
}) => html`<div class="counts" role="group" aria-label=${label}>
  ${counts
    .filter(([state, n]) => n > 0 || state === chosen)
    .map(
      ([state, n]) => html`<button
        type="button"
        key=${state}
        class=${`state ${lookOf(state)}`}
        aria-pressed=${chosen === state}
        onClick=${() => onChoose(chosen === state ? '' : state)}
      >
        ${n.toLocaleString()} ${said(state)}
      </button>`,
    )}
</div>`;

/** Said aloud by readers of the screen, and shown for a while. */
export const notice = signal('');

let clearing;
export function say(text) {
  notice.value = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => {
    notice.value = '';
  }, 8_000);
}

/** A section that is closed at first; its content is made when it is opened. */
export function Fold({ label, open = false, children, onToggle }) {
  const [isOpen, setOpen] = useState(open);
  return html`<details open=${isOpen} onToggle=${(event) => {
    setOpen(event.target.open);
    onToggle?.(event.target.open);
  }}>
    <summary>${label}</summary>
    ${isOpen && children()}
  </details>`;
}

/** Buttons to page through a list that is all here; the page is in the address. */
export const Pages = ({ page, size, of }) =>
  of > size &&
  html`<nav class="pages" aria-label="Pages">
    <button type="button" disabled=${page === 0} onClick=${() => filterBy({ page: page === 1 ? '' : page - 1 })}>Previous</button>
    <span>${page * size + 1}–${Math.min((page + 1) * size, of)} of ${of}</span>
    <button type="button" disabled=${(page + 1) * size >= of} onClick=${() => filterBy({ page: page + 1 })}>Next</button>
  </nav>`;

/** Buttons to page through a list that the API cuts; where the page begins is in the address. */
export const Older = ({ before, next, back = 'Newest', on = 'Older' }) =>
  html`<nav class="pages" aria-label="Pages">
    ${before !== '' && html`<button type="button" onClick=${() => filterBy({ before: '' })}>${back}</button>`}
    ${next !== null && html`<button type="button" onClick=${() => filterBy({ before: next })}>${on}</button>`}
  </nav>`;
