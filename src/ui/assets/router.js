import { signal } from '@preact/signals';

/** Where we are: path and query. The address is the only memory of a view. */
export const place = signal(here());

function here() {
  const { pathname, search } = location;
  let end = pathname.length;
  while (pathname[end - 1] === '/') end -= 1;
  return { path: pathname.slice(0, end) || '/', query: new URLSearchParams(search) };
}

addEventListener('popstate', () => {
  place.value = here();
});

/** Goes to an address of the page. `stay`: it is another look at the same thing, so nothing moves. */
export function go(href, { replace = false, stay = replace } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', href);
  place.value = here();
  if (!stay) {
    scrollTo(0, 0);
    // A reader of the screen should learn that this is another page.
    requestAnimationFrame(() => document.querySelector('main h1')?.focus({ preventScroll: true }));
  }
}

/** This address with other fields in its query; empty ones are removed. */
export function addressWith(fields) {
  const next = new URLSearchParams(place.value.query);
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined || value === null || value === '') next.delete(key);
    else next.set(key, value);
  }
  const text = next.toString();
  return `${place.value.path}${text === '' ? '' : `?${text}`}`;
}

/** Puts filters into the address. */
export const filterBy = (fields) => go(addressWith(fields), { replace: true });

/** Links within the page are followed without a reload; those with `data-stay` keep the scroll position. */
export function followLinks(root) {
  root.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (link === null || !plain || event.defaultPrevented || link.target !== '' || link.hasAttribute('download'))
      return;
    const url = new URL(link.href);
    if (
      url.origin !== location.origin ||
      url.hash !== '' ||
      /^\/(api|auth|docs|assets|health|openapi)/.test(url.pathname)
    )
      return;
    event.preventDefault();
    go(url.pathname + url.search, { stay: link.hasAttribute('data-stay') });
  });
}
