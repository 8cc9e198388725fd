import { type Hit, searchIn } from './search.ts';

// The theme is that of the web page, which is of the same origin; it is set before anything is drawn.
const KEY = 'sitewright.theme';
const look = document.documentElement.dataset;
const chosen = localStorage.getItem(KEY) ?? '';
if (chosen !== '') look.theme = chosen;

document.addEventListener('DOMContentLoaded', () => {
  const field = document.querySelector<HTMLInputElement>('#search')!;
  const list = document.querySelector<HTMLUListElement>('#hits')!;
  const root = document.documentElement.dataset.root!;
  offerSearch(field, list, root);
  offerThemes(document.querySelector<HTMLSelectElement>('#theme')!);
  const pages = document.querySelector<HTMLDetailsElement>('#pages')!;
  // Beside the page there is room for all.
  const wide = matchMedia('(min-width: 60rem)');
  const openWide = () => {
    pages.open = wide.matches;
  };
  wide.addEventListener('change', openWide);
  openWide();
  for (const block of document.querySelectorAll('pre')) offerCopy(block);
});

function offerThemes(select: HTMLSelectElement): void {
  select.value = chosen;
  select.addEventListener('change', () => {
    localStorage.setItem(KEY, select.value);
    if (select.value === '') delete look.theme;
    else look.theme = select.value;
  });
}

function offerSearch(field: HTMLInputElement, list: HTMLUListElement, root: string): void {
  let search: Promise<(query: string) => readonly Hit[]> | undefined;
  const load = () => {
    search ??= fetch(`${root}search.json`)
      .then((answer) => answer.text())
      .then(searchIn);
    return search;
  };
  const close = () => {
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
  };
  const show = async () => {
    const query = field.value.trim();
    if (query === '') return close();
    const hits = (await load())(query);
    if (field.value.trim() !== query) return;
    list.replaceChildren(...(hits.length > 0 ? hits.map((hit) => rowOf(hit, root)) : [nothing(query)]));
    list.hidden = false;
    field.setAttribute('aria-expanded', 'true');
  };
  field.addEventListener('focus', () => void load());
  field.addEventListener('input', () => void show());
  addEventListener('keydown', (event) => {
    const isWriting = event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
    if (event.key === 'Escape') close();
    if (event.key === '/' && !isWriting) {
      event.preventDefault();
      field.focus();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const links = [...list.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (list.hidden || links.length === 0 || (at < 0 && document.activeElement !== field)) return;
    event.preventDefault();
    const next = at + (event.key === 'ArrowDown' ? 1 : -1);
    (next < 0 ? field : links[Math.min(next, links.length - 1)]!).focus();
  });
  field.form?.addEventListener('submit', (event) => {
    event.preventDefault();
    list.querySelector('a')?.click();
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('#find') === null) close();
    // A hit on this page loads nothing.
    if (target instanceof Element && target.closest('#hits a') !== null) close();
  });
}

function rowOf({ href, titles, excerpt }: Hit, root: string): HTMLLIElement {
  const row = document.createElement('li');
  const link = document.createElement('a');
  link.href = root + href;
  const title = document.createElement('strong');
  title.textContent = titles.join(' › ');
  const text = document.createElement('span');
  text.textContent = excerpt;
  link.append(title, text);
  row.append(link);
  return row;
}

function nothing(query: string): HTMLLIElement {
  const row = document.createElement('li');
  row.className = 'nothing';
  row.textContent = `Nothing about “${query}”. Try fewer words.`;
  return row;
}

function offerCopy(block: HTMLElement): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    const text = block.querySelector('code')?.textContent ?? '';
    void navigator.clipboard.writeText(text).then(() => {
      button.textContent = 'Copied';
    });
  });
  const frame = document.createElement('div');
  frame.className = 'block';
  block.replaceWith(frame);
  frame.append(block, button);
}
