// Goes anywhere by a few letters of its name.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Run } from '../../core/contracts/runs.ts';
import { numberOf } from '../../core/run/subject.ts';
import { nameOfRun } from '../views/runs.tsx';
import { at } from './api.ts';
import { submitted } from './ask.tsx';
import { useClusterNames } from './names.ts';
import { go, siteAt } from './router.ts';
import { paletteOpen, SHORTCUTS } from './shortcuts.ts';
import { listsChanged, useData } from './store.ts';

/** More than these are found by more letters. */
const SHOWN = 12;

interface Goal {
  readonly kind: string;
  readonly name: string;
  readonly href: string;
}

const goal = (kind: string, name: string, href: string): Goal => ({ kind, name, href });

interface PaletteProps {
  readonly pages: readonly (readonly [key: string, name: string, ...unknown[]])[];
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
  // What someone begins to write as a verb comes first.
  const isVerb = ({ kind, name }: Goal): boolean => text !== '' && kind === 'do' && name.startsWith(text.toLowerCase());
  const shown = [...found.filter(isVerb), ...found.filter((goal) => !isVerb(goal))].slice(0, SHOWN);
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
          placeholder="page, site, cluster, node, run, or what to do: deploy dc1"
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
          <details open={paletteOpen.value === 'keys'}>
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

/** What can be done to a site, and to a run as it is; each opens its question. */
const SITE_VERBS = ['deploy', 'update', 'test'];

function verbsOf(run: Run): readonly (readonly [verb: string, text: string])[] {
  const hasFailed = Boolean(run.failed_nodes || run.failed_tasks || run.outcome === 'failed');
  const retry = hasFailed ? [['retry', 'retry failed of'] as const] : [];
  if (run.outcome !== null) return retry;
  const approve = run.awaiting_approval ? [['approve', 'approve'] as const] : [];
  const pause = run.paused ? 'resume' : 'pause';
  return [...approve, ...retry, [pause, pause], ['stop', 'stop'], ['cancel', 'cancel']];
}

/** Everything that has a page and a name, as of its opening, and what can be done there. */
function useGoals(pages: PaletteProps['pages']): readonly Goal[] {
  const sites = useData(at('GET /sites'), { again: listsChanged.value });
  const nodes = useData(at('GET /nodes'));
  const runs = useData(at('GET /runs', { query: { limit: 100 } }), { again: listsChanged.value });
  const clusters = useClusterNames();
  return useMemo(
    () => [
      ...pages.map(([key, name]) => goal('page', name, `/${key}`)),
      ...(sites.data?.items ?? []).map(({ name }) => goal('site', name, siteAt(name))),
      ...[...clusters].map(([id, name]) => goal('cluster', name, `/clusters/${id}`)),
      ...(nodes.data ?? []).map(({ id, name }) => goal('node', name, `/nodes/${id}`)),
      ...(runs.data?.items ?? []).map((run) =>
        goal(run.number === null ? 'run' : `run ${run.number}`, nameOfRun(run, clusters), `/runs/${run.id}`),
      ),
      ...(sites.data?.items ?? []).flatMap(({ name }) =>
        SITE_VERBS.map((verb) => goal('do', `${verb} ${name}`, `${siteAt(name)}?do=${verb}`)),
      ),
      ...[...clusters].map(([id, name]) => goal('do', `deploy changes of ${name}`, `/clusters/${id}?do=deploy`)),
      ...(runs.data?.items ?? []).flatMap((run) =>
        verbsOf(run).map(([verb, text]) =>
          goal('do', `${text} run ${numberOf(run)}, ${nameOfRun(run, clusters)}`, `/runs/${run.id}?do=${verb}`),
        ),
      ),
      goal('do', 'create a site', '/sites?do=create'),
      goal('do', 'create a schedule', '/schedules?do=create'),
    ],
    [pages, sites.data, nodes.data, runs.data, clusters.size],
  );
}
