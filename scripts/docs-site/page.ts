import { posix } from 'node:path';
import type { Page } from './build.ts';
import { addressOf, SHELVES } from './shelves.ts';

/** The whole document of a page: search, all pages beside it, and which comes next. Nothing in it is a script or a style. */
export function layOut(page: Page, pages: readonly Page[]): string {
  const isIndex = page.path === 'README.md';
  const up = isIndex ? '' : '../';
  const at = pages.indexOf(page);
  return `<!doctype html>
<html lang="en" data-root="${up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${isIndex ? 'Sitewright' : `${escaped(page.title)} · Sitewright`}</title>
<link rel="stylesheet" href="${up}style.css">
<script src="${up}site.js"></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a href="${up}index.html">Sitewright docs</a>
<form id="find" role="search">
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search the documents" aria-controls="hits" aria-expanded="false" role="combobox" autocomplete="off">
<ul id="hits" aria-label="Results" hidden></ul>
</form>
<select id="theme" aria-label="Theme"><option value="">system</option><option>light</option><option>dark</option></select>
</header>
<div class="columns">
<details id="pages"><summary>All pages</summary><nav aria-label="Pages">
${SHELVES.map((shelf) => listOf(shelf, page, pages, up)).join('\n')}
</nav></details>
<main id="content">
${page.html}
<nav class="next" aria-label="Order">${step(pages[at - 1], '←', up)}${step(pages[at + 1], '→', up)}</nav>
</main>
</div>
</body>
</html>
`;
}

function listOf(
  { folder, title }: { folder: string; title: string },
  current: Page,
  pages: readonly Page[],
  up: string,
) {
  const rows = pages
    .filter(({ path }) => posix.dirname(path) === folder)
    .map((page) => {
      const link = `<a href="${up}${addressOf(page.path)}"${page === current ? ' aria-current="page"' : ''}>${escaped(page.title)}</a>`;
      return `<li>${link}${page === current ? chaptersOf(page) : ''}</li>`;
    });
  return `<h2>${title}</h2><ul>${rows.join('')}</ul>`;
}

function chaptersOf({ chapters }: Page): string {
  if (chapters.length === 0) return '';
  return `<ul>${chapters.map(({ anchor, title }) => `<li><a href="#${anchor}">${escaped(title)}</a></li>`).join('')}</ul>`;
}

const step = (page: Page | undefined, arrow: string, up: string): string =>
  page === undefined ? '<span></span>' : `<a href="${up}${addressOf(page.path)}">${arrow} ${escaped(page.title)}</a>`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
