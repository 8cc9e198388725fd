// Small parts that all views are made of.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { operator } from './api.js';
import { html } from './html.js';
import { problemOf } from './store.js';
import { lookOf, said } from './words.js';

/** A state as a word with a coloured mark: never by colour alone. */
export const State = ({ of, children }) => html`<span class=${`state ${lookOf(of)}`}>${children ?? said(of)}</span>`;

/** What the API refused, with what to do about it. */
export function Problem({ of, onRetry }) {
  if (of === undefined || of === null) return null;
  return html`<div class="problem" role="alert">
    <p><strong>${of.detail ?? of.message}</strong></p>
    ${of.hint && html`<p>${of.hint}</p>`}
    ${
      (of.errors ?? []).length > 0 &&
      html`<ul>
      ${of.errors
        .slice(0, 20)
        .map(
          (one) =>
            html`<li>${[one.file, one.line, one.path].filter(Boolean).join(':')} ${one.message} ${one.hint}</li>`,
        )}
    </ul>`
    }
    ${of.run?.id && html`<p><a href=${`/runs/${of.run.id}`}>Show the run that is in the way</a></p>`}
    ${onRetry && html`<button type="button" onClick=${onRetry}>Ask again</button>`}
  </div>`;
}

/** Data, or why there is none. */
export function Loaded({ from, children }) {
  const { data, problem, loading, reload } = from;
  return html`<${Problem} of=${problem} onRetry=${reload} />
    ${data === undefined ? loading && html`<p class="quiet" role="status">Loading …</p>` : children(data)}`;
}

/** The head of a view, which also names the document. */
export function Title({ children, of, actions }) {
  useEffect(() => {
    document.title = `${of} · Sitewright`;
  }, [of]);
  return html`<header class="title">
    <h1 tabindex="-1">${children ?? of}</h1>
    ${actions && html`<div class="actions">${actions}</div>`}
  </header>`;
}

/** A table that narrow screens scroll by itself. `columns`: `[name, cell, class?]`. */
export function Table({ label, columns, rows, keyOf, empty = 'None.' }) {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead>
        <tr>
          ${columns.map(([name]) => html`<th scope="col" key=${name}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`<tr key=${keyOf(row)}>
            ${columns.map(([name, cell, look]) => html`<td key=${name} class=${look}>${cell(row)}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** `done` of `total`, as a bar and as text. */
export const Progress = ({ done, total, bad = 0, what = 'nodes' }) => html`<div class="progress">
  <div class="bar" aria-hidden="true">
    <span class="good" style=${{ width: `${share(done - bad, total)}%` }}></span
    ><span class="failed" style=${{ width: `${share(bad, total)}%` }}></span>
  </div>
  <span>${done} / ${total} ${what}${bad > 0 ? `, ${bad} failed` : ''}</span>
</div>`;

const share = (part, whole) => (whole === 0 ? 0 : (100 * part) / whole);

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

/**
 * A button that asks before it acts: what will happen, and why. `act({reason, …fields})` may refuse by throwing.
 * `fields`: `[{name, label, type?, value?, options?, needed?}]`.
 */
export function Action({ label, title, explain, act, fields = [], reason = true, danger = false, done, disabled }) {
  const [open, setOpen] = useState(false);
  return html`<button type="button" class=${danger ? 'danger' : ''} disabled=${disabled} onClick=${() => setOpen(true)}>
      ${label}
    </button>
    ${
      open &&
      html`<${Ask}
      ...${{ label, title: title ?? label, explain, act, fields, reason, danger, done }}
      onClose=${() => setOpen(false)}
    />`
    }`;
}

function Ask({ label, title, explain, act, fields, reason, danger, done, onClose }) {
  const dialog = useRef(null);
  const [problem, setProblem] = useState(undefined);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  const close = () => dialog.current?.close();
  const submit = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
    if (given.by !== undefined) operator.name = given.by;
    delete given.by;
    setBusy(true);
    try {
      await act(given);
      close();
      say(done ?? `${title}: done.`);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return html`<dialog ref=${dialog} aria-label=${title} onClose=${onClose}>
    <form method="dialog" onSubmit=${submit}>
      <h2>${title}</h2>
      ${explain && html`<p>${explain}</p>`}
      ${fields.map((field) => html`<${Field} key=${field.name} ...${field} />`)}
      ${reason && html`<${Field} name="reason" label="Reason" placeholder="kept in the report and the audit" autofocus />`}
      <${Field} name="by" label="Your name" value=${operator.name} placeholder="who does it" />
      <${Problem} of=${problem} />
      <div class="actions">
        <button type="submit" class=${danger ? 'danger' : 'main'} disabled=${busy}>${label}</button>
        <button type="button" onClick=${close}>Leave it</button>
      </div>
    </form>
  </dialog>`;
}

/** A labelled field of a form. */
export function Field({ name, label, type = 'text', value = '', options, needed = false, ...rest }) {
  if (type === 'checkbox')
    return html`<label class="check"><input type="checkbox" name=${name} value="true" defaultChecked=${value} /> ${label}</label>`;
  return html`<label class="field"
    ><span>${label}</span>
    ${
      options
        ? html`<select name=${name} required=${needed}>
          ${options.map((one) => html`<option key=${one[0]} value=${one[0]} selected=${one[0] === value}>${one[1]}</option>`)}
        </select>`
        : type === 'textarea'
          ? html`<textarea name=${name} rows="12" spellcheck="false" required=${needed} defaultValue=${value} ...${rest}></textarea>`
          : html`<input name=${name} type=${type} defaultValue=${value} required=${needed} autocomplete="off" ...${rest} />`
    }
  </label>`;
}

/** A filter whose value is in the address. */
export const Choice = ({ label, value, options, onChange }) => html`<label class="field"
  ><span>${label}</span
  ><select value=${value ?? ''} onChange=${(event) => onChange(event.target.value)}>
    ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === (value ?? '')}>${text}</option>`)}
  </select></label
>`;

/** A text filter, which waits until one stops to write. */
export function Search({ label, value, onChange, placeholder }) {
  const timer = useRef(undefined);
  const later = (event) => {
    const text = event.target.value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(text), 250);
  };
  return html`<label class="field"
    ><span>${label}</span
    ><input type="search" defaultValue=${value ?? ''} placeholder=${placeholder} onInput=${later} autocomplete="off" /></label
  >`;
}

/** A part that is closed until asked for; what is in it is made only then. */
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
