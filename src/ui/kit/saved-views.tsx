// Filters that are kept under a name, in this browser. A link to them works anywhere.
import { signal } from '@preact/signals';
import { Action, type Given } from './ask.tsx';
import { addressWith, place } from './router.ts';

const KEY = 'sitewright.views';

interface SavedView {
  /** The list. */
  readonly of: string;
  readonly name: string;
  readonly query: string;
}

const saved = signal(read());

function read(): readonly SavedView[] {
  try {
    const views: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(views) ? views : [];
  } catch {
    return [];
  }
}

function keep(views: readonly SavedView[]): void {
  saved.value = views;
  localStorage.setItem(KEY, JSON.stringify(views));
}

/** The saved filters of a list, and a button to save the current ones. `fields`: their fields in the address. */
export function SavedViews({ of, fields }: { readonly of: string; readonly fields: readonly string[] }) {
  const own = saved.value.filter((view) => view.of === of);
  const present = new URLSearchParams([...place.value.query].filter(([key]) => fields.includes(key))).toString();
  const save = ({ texts: { name = '' } }: Given) =>
    keep([...saved.value.filter((view) => view.of !== of || view.name !== name), { of, name, query: present }]);
  const current = own.find((view) => view.query === present);
  if (own.length === 0 && present === '') return null;
  return (
    <div class="saved" role="group" aria-label="Saved filters">
      {own.map((view) => (
        <span class="tag" key={view.name}>
          <a href={`${place.value.path}?${view.query}`} data-stay aria-current={view === current ? 'true' : undefined}>
            {view.name}
          </a>
          <button
            type="button"
            class="link"
            aria-label={`Forget ${view.name}`}
            onClick={() => keep(saved.value.filter((one) => one !== view))}
          >
            ×
          </button>
        </span>
      ))}
      {present !== '' && current === undefined && (
        <Action
          label="Save these filters"
          explain={`Kept in this browser. Anyone can open ${location.origin}${addressWith({ before: '' })}`}
          needs="viewer"
          reason={false}
          signed={false}
          fields={[{ name: 'name', label: 'Name', needed: true, autofocus: true }]}
          act={save}
          done="Filters saved."
        />
      )}
    </div>
  );
}
