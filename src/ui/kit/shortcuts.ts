// Keys for those who know their way.
import { signal } from '@preact/signals';
import { go } from './router.ts';

/** Whether the palette asks where to go, or shows the keys. */
export const paletteOpen = signal<false | 'goals' | 'keys'>(false);

/** After g: where to. */
const PLACES: Readonly<Record<string, string>> = {
  h: '/',
  s: '/sites',
  r: '/runs',
  n: '/nodes',
  c: '/clusters',
  g: '/graphs',
  a: '/audit',
};

/** Keys and what they do, for people. */
export const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl+K', 'go to a page, site, cluster, node or run, or do something there'],
  ['/', 'filter the list that is shown'],
  ['j, k', 'the next and the previous row of the list'],
  ['Enter', 'open the row'],
  ['r', 'retry the row, or what failed'],
  ['l', 'the log of the row, or of the run'],
  ['?', 'this list'],
  ...Object.entries(PLACES).map(([key, to]) => [`g ${key}`, to.slice(1) || 'home'] as const),
];

/** After g, the second key is waited for so long. */
const SECOND_MS = 1_500;

/** Listens to the keys of the page: none of them disturbs someone who writes, or answers a dialog. */
export function obeyShortcuts(): void {
  let since = Number.NEGATIVE_INFINITY;
  addEventListener('keydown', (event) => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      paletteOpen.value = document.querySelector('dialog[open]') === null && 'goals';
      return;
    }
    if (isCommand || event.altKey || isBusy(event.target)) return;
    const isSecond = event.timeStamp - since < SECOND_MS;
    since = Number.NEGATIVE_INFINITY;
    const to = PLACES[event.key];
    if (isSecond && to !== undefined) go(to);
    else if (event.key === 'g') since = event.timeStamp;
    else if (event.key === '?') paletteOpen.value = 'keys';
    else if (event.key in TRIAGE) {
      if (TRIAGE[event.key]?.()) event.preventDefault();
    } else if (event.key === '/') {
      const field = document.querySelector<HTMLElement>('main input[type="search"], main .filters select');
      if (field === null) return;
      event.preventDefault();
      field.focus();
    }
  });
}

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('main tbody tr:not(.space)')];

const currentRow = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>('main tbody tr') ?? null;

/** To the row so many further; of none, to the first. */
function goRow(by: number): boolean {
  const all = rows();
  const row = currentRow();
  const next = all[row === null ? 0 : all.indexOf(row) + by];
  if (next === undefined) return false;
  next.tabIndex = -1;
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
  return true;
}

/** Presses the first of these in the row, or else in the view. */
function press(selector: string, isIt: (one: HTMLElement) => boolean = () => true): boolean {
  const [row, view] = [currentRow(), document.querySelector('main')];
  for (const place of [row, view]) {
    const found = [...(place?.querySelectorAll<HTMLElement>(selector) ?? [])].find(isIt);
    found?.click();
    if (found !== undefined) return true;
  }
  return false;
}

/** For someone who goes through what failed. Each says whether there was anything to do. */
const TRIAGE: Readonly<Record<string, () => boolean>> = {
  j: () => goRow(1),
  k: () => goRow(-1),
  r: () => press('button', ({ textContent }) => /^(Retry|Run failed again)/.test(textContent ?? '')),
  l: () => press('a[data-log], .tabs a', (one) => 'log' in one.dataset || one.textContent === 'Log'),
  Enter: () => currentRow() === document.activeElement && press('a[href]'),
};

/** A field keeps the focus for a moment after its dialog has closed: nobody writes where nothing is shown. */
const isBusy = (target: EventTarget | null): boolean =>
  document.querySelector('dialog[open]') !== null ||
  (target instanceof Element &&
    target.closest('input:not([type="checkbox"]), select, textarea')?.checkVisibility() === true);
