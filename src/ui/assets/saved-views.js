// Filters that are kept under a name, in this browser. A link to them works anywhere.
import { signal } from '@preact/signals';
import { Action } from './ask.js';
import { html } from './html.js';
import { addressWith, place } from './router.js';

const KEY = 'sitewright.views';

const saved = signal(read());

function read() {
  try {
    const views = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(views) ? views : [];
  } catch {
    return [];
  }
}

function keep(views) {
  saved.value = views;
  localStorage.setItem(KEY, JSON.stringify(views));
}

/** The saved filters of a list, and a button to save the current ones. `fields`: their fields in the address. */
export function SavedViews({ of, fields }) {
  const own = saved.value.filter((view) => view.of === of);
  const present = new URLSearchParams([...place.value.query].filter(([key]) => fields.includes(key))).toString();
  const save = ({ name }) =>
    keep([...saved.value.filter((view) => view.of !== of || view.name !== name), { of, name, query: present }]);
  const current = own.find((view) => view.query === present);
  if (own.length === 0 && present === '') return null;
  return html`<div class="saved" role="group" aria-label="Saved filters">
    ${own.map(
      (view) => html`<span class="tag" key=${view.name}
        ><a href=${`${place.value.path}?${view.query}`} data-stay aria-current=${view === current ? 'true' : undefined}>${view.name}</a>
        <button type="button" class="link" aria-label=${`Forget ${view.name}`} onClick=${() => keep(saved.value.filter((one) => one !== view))}>×</button></span
      >`,
    )}
    ${
      present !== '' &&
      current === undefined &&
      html`<${Action}
        label="Save these filters"
        explain=${`Kept in this browser. Anyone can open ${location.origin}${addressWith({ before: '' })}`}
        needs="viewer"
        reason=${false}
        signed=${false}
        fields=${[{ name: 'name', label: 'Name', needed: true, autofocus: true }]}
        act=${save}
        done="Filters saved."
      />`
    }
  </div>`;
}
