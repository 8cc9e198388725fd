// Keys for those who know their way.
import { signal } from '@preact/signals';
import { go } from './router.ts';

/** Whether the palette asks where to go. */
export const paletteOpen = signal(false);

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
  ['Ctrl+K', 'go to a page, site, cluster, node or run'],
  ['/', 'filter the list that is shown'],
  ['g h', 'home'],
  ['g s', 'sites'],
  ['g r', 'runs'],
  ['g n', 'nodes'],
  ['g c', 'clusters'],
  ['g g', 'graphs'],
  ['g a', 'audit'],
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
      paletteOpen.value = document.querySelector('dialog[open]') === null;
      return;
    }
    if (isCommand || event.altKey || isBusy(event.target)) return;
    const isSecond = event.timeStamp - since < SECOND_MS;
    since = Number.NEGATIVE_INFINITY;
    const to = PLACES[event.key];
    if (isSecond && to !== undefined) go(to);
    else if (event.key === 'g') since = event.timeStamp;
    else if (event.key === '?') paletteOpen.value = true;
    else if (event.key === '/') {
      const field = document.querySelector<HTMLElement>('main input[type="search"], main .filters select');
      if (field === null) return;
      event.preventDefault();
      field.focus();
    }
  });
}

/** A field keeps the focus for a moment after its dialog has closed: nobody writes where nothing is shown. */
const isBusy = (target: EventTarget | null): boolean =>
  document.querySelector('dialog[open]') !== null ||
  (target instanceof Element &&
    target.closest('input:not([type="checkbox"]), select, textarea')?.checkVisibility() === true);
