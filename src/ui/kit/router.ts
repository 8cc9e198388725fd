import { signal } from '@preact/signals';

/** Where we are: path and query. The address is the only memory of a view. */
export const place = signal(here());

/** An address of the page. */
interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

function here(): Place {
  const { pathname, search } = location;
  let end = pathname.length;
  while (pathname[end - 1] === '/') end -= 1;
  return { path: pathname.slice(0, end) || '/', query: new URLSearchParams(search) };
}

addEventListener('popstate', () => {
  place.value = here();
});

/** Goes to an address of the page. `stay`: it is another look at the same thing, so nothing moves. */
export function go(
  href: string,
  { replace = false, stay = replace }: { readonly replace?: boolean; readonly stay?: boolean } = {},
): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', href);
  place.value = here();
  if (!stay) {
    scrollTo(0, 0);
    // A reader of the screen should learn that this is another page.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true }));
  }
}

/** This address with other fields in its query; empty ones are removed. */
export function addressWith(fields: Readonly<Record<string, string | number>>): string {
  const next = new URLSearchParams(place.value.query);
  for (const [key, value] of Object.entries(fields)) {
    if (value === '') next.delete(key);
    else next.set(key, String(value));
  }
  const text = next.toString();
  return `${place.value.path}${text === '' ? '' : `?${text}`}`;
}

/** Where a site is shown. */
export const siteAt = (site: string): string => `/sites/${encodeURIComponent(site)}`;

/** Puts filters into the address. */
export const filterBy = (fields: Readonly<Record<string, string | number>>): void =>
  go(addressWith(fields), { replace: true });

/** Links within the page are followed without a reload; those with `data-stay` keep the scroll position. */
export function followLinks(root: HTMLElement): void {
  root.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
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

/** Fields of the address; '' where one is not there. */
export const fieldsOf = <const Names extends readonly string[]>(
  query: URLSearchParams,
  names: Names,
): { readonly [At in keyof Names]: string } =>
  names.map((name) => query.get(name) ?? '') as { readonly [At in keyof Names]: string };
