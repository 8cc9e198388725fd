import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { renderPages } from '../../../scripts/docs-site/build.ts';
import { addressOf, SHELVES } from '../../../scripts/docs-site/shelves.ts';
import { indexOf, searchIn } from '../../../src/ui/docs/search.ts';

/* The documents as a site (npm run docs:site): which page its search finds. */
const pages = await renderPages();
const search = searchIn(indexOf(pages.flatMap(({ sections }) => sections)));

/** What a user wants to do, in a user's words, which are not those of the page's title, and where it is said. */
const TASKS: readonly (readonly [query: string, page: string])[] = [
  ['replace a broken disk and retry the node', 'how-to/repair-a-node.html'],
  ['test a change on a single node before all', 'how-to/try-one-node-first.html'],
  ['go back to the earlier revision', 'how-to/undo-a-change.html'],
  ['move the database to another node', 'how-to/move-a-service.html'],
  ['upgrade without stopping runs', 'how-to/upgrade.html'],
  ['backup postgres', 'how-to/back-up.html'],
  ['install helm chart', 'how-to/install.html'],
  ['who may approve a run', 'how-to/operating.html'],
  ['alert on slack when a run fails', 'how-to/monitor.html'],
  ['single sign-on with keycloak', 'how-to/access.html'],
  ['exit code 4', 'reference/cli.html'],
  ['my server did not come up, what now', 'how-to/repair-a-node.html'],
  ['keep a machine out of runs while I fix it', 'how-to/repair-a-node.html'],
  ['canary before the rest', 'how-to/try-one-node-first.html'],
  ['what would a deployment do', 'how-to/rehearse-a-run.html'],
  ['the new version is bad, put the old one back', 'how-to/undo-a-change.html'],
  ['add more web servers', 'how-to/move-a-service.html'],
  ['restore after the disk of the database died', 'how-to/back-up.html'],
  ['deb package apt-get', 'how-to/install.html'],
  ['docker compose', 'how-to/install.html'],
  ['grafana dashboard prometheus', 'how-to/monitor.html'],
  ['run every night at 6', 'reference/cli.html'],
  ['fuel2 env deploy', 'how-to/coming-from-fuel.html'],
  ['task never starts, agent does not answer', 'reference/troubleshooting.html'],
  ['deploy my own machines from yaml', 'start/first-site.html'],
];

describe('the search of the documents', () => {
  it.each(TASKS)('finds "%s" among its first three hits', (query, page) => {
    const hits = search(query).slice(0, 3);
    expect(hits.map(({ href }) => href.split('#')[0])).toContain(page);
  });

  it('is tried with words that are not the titles of pages', () => {
    const words = (text: string): string => (text.toLowerCase().match(/\w+/g) ?? []).join(' ');
    const titles = new Set(pages.map(({ sections }) => words(sections[0]!.titles[0]!)));
    expect(TASKS.filter(([query]) => titles.has(words(query)))).toEqual([]);
  });

  it('leads to pages that the site has', () => {
    const written = new Set(pages.map(({ path }) => addressOf(path)));
    expect(pages.flatMap(({ sections }) => sections).filter(({ page }) => !written.has(page))).toEqual([]);
  });

  it('forgives a slip, and knows the start of a word', () => {
    const first = (query: string) => search(query)[0]?.titles[0];
    expect(first('kubernets')).toBe(first('kubernetes'));
    expect(first('postgr')).toBeDefined();
    expect(search('xyzzy plugh')).toEqual([]);
  });

  it('shows the words around the one that was asked for', () => {
    for (const { excerpt } of search('maintenance').slice(0, 1)) expect(excerpt.toLowerCase()).toContain('maintenance');
  });

  it('cuts no word of what it shows', () => {
    const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '' && word !== '…');
    const written = new Set(pages.flatMap(({ sections }) => sections).flatMap(({ text }) => wordsOf(text)));
    const shown = TASKS.flatMap(([query]) => search(query)).flatMap(({ excerpt }) => wordsOf(excerpt));
    expect(shown.filter((word) => !written.has(word))).toEqual([]);
  });
});

describe('the shelves', () => {
  it('have every page once', () => {
    const docs = fileURLToPath(new URL('../../../docs', import.meta.url));
    const files = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
    expect(pages.map(({ path }) => path).sort()).toEqual(files.sort());
    expect(SHELVES.map(({ title }) => title)).toEqual(['Start', 'How to', 'Reference', 'Explain']);
  });

  it('lead to pages, and to files that the site has: nothing is served that a browser would have to be allowed', () => {
    for (const { path, html } of pages) {
      expect(html, path).not.toMatch(/\sstyle="|<script|\son\w+="|<style/);
      expect(html, path).not.toMatch(/href="[^":]*\.md/);
    }
  });
});
