// Buttons that ask before they act, and their form fields.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { operator } from './api.js';
import { html } from './html.js';
import { actorName, forbidden, hasToken } from './identity.js';
import { Problem, say } from './parts.js';
import { problemOf } from './store.js';

/**
 * A button that asks before it acts: what will happen, and why. `act({reason, …fields})` may refuse by throwing.
 * `fields`: `[{name, label, type?, value?, options?, needed?}]`; of type `choices` a list of chosen values.
 * `signed`: whether it is done in someone's name. `disabled`: false, or why it cannot be done now. `needs`: the role that may.
 */
export function Action({ label, disabled, needs = 'operator', danger = false, ...asked }) {
  const [open, setOpen] = useState(false);
  const why = forbidden(needs) ?? (disabled || undefined);
  // A disabled action stays reachable by keyboard, and shows why.
  const press = () => (why === undefined ? setOpen(true) : say(why));
  return html`<button
      type="button"
      class=${danger ? 'danger' : ''}
      title=${why}
      aria-disabled=${why === undefined ? undefined : 'true'}
      onClick=${press}
    >
      ${label}
    </button>
    ${open && html`<${Ask} label=${label} title=${label} danger=${danger} ...${asked} onClose=${() => setOpen(false)} />`}`;
}

function Ask({ label, title, explain, act, fields = [], reason = true, signed = true, danger, done, onClose }) {
  const dialog = useRef(null);
  const [problem, setProblem] = useState(undefined);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  const close = () => dialog.current?.close();
  const submit = async (event) => {
    event.preventDefault();
    const given = readFields(new FormData(event.target), fields);
    const missing = fields.find((field) => field.type === 'choices' && field.needed && given[field.name].length === 0);
    if (missing !== undefined)
      return setProblem({ detail: `${missing.label}: no selection.`, hint: 'Select at least one.' });
    if (given.by !== undefined) operator.name = given.by;
    delete given.by;
    setBusy(true);
    try {
      const said = await act(given);
      close();
      say(typeof said === 'string' ? said : (done ?? `${title}: done.`));
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
      ${reason && html`<${Field} name="reason" label="Reason" placeholder="kept in the report and the audit trail" autofocus=${fields.length === 0} />`}
      ${
        signed &&
        (hasToken()
          ? html`<p class="quiet">As ${actorName()}.</p>`
          : html`<${Field} name="by" label="Your name" value=${operator.name} placeholder="who does it" />`)
      }
      <${Problem} of=${problem} />
      <div class="actions">
        <button type="submit" class=${danger ? 'danger main' : 'main'} disabled=${busy}>${busy ? 'Please wait …' : label}</button>
        <button type="button" onClick=${close}>Close</button>
      </div>
    </form>
  </dialog>`;
}

function readFields(form, fields) {
  const given = Object.fromEntries([...form].filter(([, value]) => value !== ''));
  for (const { name, type } of fields) if (type === 'choices') given[name] = form.getAll(name);
  return given;
}

/** A labelled field of a form. */
export function Field({ name, label, type = 'text', value = '', options, needed = false, hint, ...rest }) {
  if (type === 'checkbox')
    return html`<label class="check"><input type="checkbox" name=${name} value="true" defaultChecked=${value} /> ${label}</label>`;
  if (type === 'choices') return html`<${Choices} ...${{ name, label, value, options }} />`;
  return html`<label class="field"
    ><span>${label}</span>
    ${
      options
        ? html`<select name=${name} required=${needed} ...${rest}>
          ${options.map((one) => html`<option key=${one[0]} value=${one[0]} selected=${one[0] === value}>${one[1]}</option>`)}
        </select>`
        : type === 'textarea'
          ? html`<textarea name=${name} rows="12" spellcheck="false" required=${needed} defaultValue=${value} ...${rest}></textarea>`
          : html`<input name=${name} type=${type} defaultValue=${type === 'file' ? undefined : value} required=${needed} autocomplete="off" ...${rest} />`
    }
    ${hint && html`<span>${hint}</span>`}
  </label>`;
}

/** More than these are searched, not scrolled through. */
const MANY = 10;

/** Some of many, by check marks. `options`: `[value, text]`; `value`: the initial choice. */
export function Choices({ name, label, value = [], options, empty = 'There is none.' }) {
  const [wanted, setWanted] = useState('');
  const box = useRef(null);
  const id = useId();
  const shows = ([, text]) => text.toLowerCase().includes(wanted.toLowerCase());
  const mark = (is) => {
    for (const one of box.current.querySelectorAll('label:not([hidden]) input')) one.checked = is;
  };
  return html`<div class="field choices" role="group" aria-labelledby=${id}>
    <span id=${id}>${label}</span>
    ${
      options.length > MANY &&
      html`<div class="actions">
        <input type="search" aria-label=${`Find in ${label}`} placeholder="find" onInput=${(event) => setWanted(event.target.value)} autocomplete="off" />
        <button type="button" onClick=${() => mark(true)}>All shown</button>
        <button type="button" onClick=${() => mark(false)}>None</button>
      </div>`
    }
    <div class="options" ref=${box}>
      ${options.length === 0 && html`<span class="quiet">${empty}</span>`}
      ${options.map(
        (one) => html`<label class="check" key=${one[0]} hidden=${!shows(one)}
          ><input type="checkbox" name=${name} value=${one[0]} defaultChecked=${value.includes(one[0])} /> ${one[1]}</label
        >`,
      )}
    </div>
  </div>`;
}

/** Asks before which groups or tasks a run waits for approval; `heldBefore` reads the answer. */
export const holdField = (what, value = []) => ({
  name: 'hold_before',
  label: `Wait for approval before these ${what}`,
  value: value.join(', '),
  placeholder: 'none; comma-separated names; *: before any change',
});

export function heldBefore(text = '') {
  const names = listed(text);
  return names.length === 0 ? {} : { hold_before: names };
}

/** Names with commas between. */
export const listed = (text) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);

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
  const input = useRef(null);
  useEffect(() => {
    // Chosen elsewhere: shown here, unless it is being written.
    if (input.current !== document.activeElement) input.current.value = value ?? '';
  }, [value]);
  const later = (event) => {
    const text = event.target.value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(text), 250);
  };
  return html`<label class="field"
    ><span>${label}</span
    ><input ref=${input} type="search" defaultValue=${value ?? ''} placeholder=${placeholder} onInput=${later} autocomplete="off" /></label
  >`;
}
