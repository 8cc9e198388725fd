// Goes anywhere by a few letters of its name.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { at } from './api.ts';
import { submitted } from './ask.tsx';
import { useClusterNames } from './names.ts';
import type { View } from './parts.tsx';
import { go } from './router.ts';
import { paletteOpen, SHORTCUTS } from './shortcuts.ts';
import { listsChanged, useData } from './store.ts';
import { nameOfRun } from './views/runs.tsx';

/** More than these are found by more letters. */
const SHOWN = 12;

interface Goal {
  readonly kind: string;
  readonly name: string;
  readonly href: string;
}

interface PaletteProps {
  readonly pages: readonly View[];
}

export const Palette = ({ pages }: PaletteProps) => (paletteOpen.value ? <Asked pages={pages} /> : null);

function Asked({ pages }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [chosen, choose] = useState(0);
  const goals = useGoals(pages);
  useEffect(() => dialog.current?.showModal(), []);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = goals.filter(({ kind, name }) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word)));
  const shown = found.slice(0, SHOWN);
  const selected = Math.min(chosen, shown.length - 1);
  const follow = (goal: Goal | undefined): void => {
    if (goal === undefined) return;
    dialog.current?.close();
    go(goal.href);
  };
  const move = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0 || shown.length === 0) return;
    event.preventDefault();
    choose((selected + by + shown.length) % shown.length);
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Go to"
      onClose={() => {
        paletteOpen.value = false;
      }}
    >
      <form method="dialog" onSubmit={submitted(() => follow(shown[selected]))}>
        <input
          type="text"
          role="combobox"
          aria-label="Go to"
          aria-expanded="true"
          aria-controls="goals"
          aria-autocomplete="list"
          aria-activedescendant={shown.length > 0 ? `goal-${selected}` : undefined}
          placeholder="a page, site, cluster, node or run"
          autocomplete="off"
          onInput={(event) => {
            setText(event.currentTarget.value);
            choose(0);
          }}
          onKeyDown={move}
        />
        <div id="goals" class="goals" role="listbox" aria-label="Goals">
          {shown.map((goal, index) => (
            <div
              key={goal.href}
              id={`goal-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === selected}
              onPointerUp={() => follow(goal)}
            >
              <span class="kind">{goal.kind}</span> {goal.name}
            </div>
          ))}
        </div>
        {shown.length === 0 && <p class="quiet">Nothing has such a name.</p>}
        {found.length > SHOWN && <p class="quiet">and {found.length - SHOWN} more: write more letters</p>}
        {text === '' && (
          <details>
            <summary>Keys</summary>
            <ul>
              {SHORTCUTS.map(([keys, does]) => (
                <li key={keys}>
                  <span class="kind">
                    <kbd>{keys}</kbd>
                  </span>{' '}
                  {does}
                </li>
              ))}
            </ul>
          </details>
        )}
      </form>
    </dialog>
  );
}

/** Everything that has a page and a name, as of its opening. */
function useGoals(pages: readonly View[]): readonly Goal[] {
  const sites = useData(at('GET /sites'), { again: listsChanged.value });
  const nodes = useData(at('GET /nodes'));
  const runs = useData(at('GET /runs', { query: { limit: 100 } }), { again: listsChanged.value });
  const clusters = useClusterNames();
  return useMemo(
    () => [
      ...pages.map(([key, name]) => ({ kind: 'page', name, href: `/${key}` })),
      ...(sites.data?.items ?? []).map(({ name }) => ({
        kind: 'site',
        name,
        href: `/sites/${encodeURIComponent(name)}`,
      })),
      ...[...clusters].map(([id, name]) => ({ kind: 'cluster', name, href: `/clusters/${id}` })),
      ...(nodes.data ?? []).map(({ id, name }) => ({ kind: 'node', name, href: `/nodes/${id}` })),
      ...(runs.data?.items ?? []).map((run) => ({
        kind: run.number === null ? 'run' : `run ${run.number}`,
        name: nameOfRun(run, clusters),
        href: `/runs/${run.id}`,
      })),
    ],
    [pages, sites.data, nodes.data, runs.data, clusters.size],
  );
}
