import { posix } from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';
import type { Section } from '../../src/ui/docs/search.ts';
import { addressOf } from './shelves.ts';
import { dotOfStates } from './states.ts';

/** A page of the documents, rendered. */
export interface Rendered {
  readonly title: string;
  readonly html: string;
  /** Its chapters, for the list beside it. */
  readonly chapters: readonly { readonly anchor: string; readonly title: string }[];
  /** What the search finds, a section for each heading. */
  readonly sections: readonly Section[];
  /** Files of `docs/` that it shows or links to. */
  readonly files: readonly string[];
}

interface Asked {
  /** Below `docs/`: `how-to/repair.md`. */
  readonly path: string;
  readonly text: string;
  /** Whether `docs/` has a file of this path. */
  readonly has: (path: string) => boolean;
  readonly draw: (dot: string) => Promise<string>;
}

const markdown = new MarkdownIt({ html: true, linkify: false });

/** Renders one page. Links between pages lead to their `.html`; links to files outside `docs/` become plain names. */
export async function renderPage({ path, text, has, draw }: Asked): Promise<Rendered> {
  // Comments mark what scripts write.
  const tokens = markdown.parse(text.replace(/^<!--[\s\S]*?-->\n/gm, ''), {});
  const files = new Set<string>();
  const slugs = new Map<string, number>();
  const sections: { anchor: string; titles: string[]; text: string }[] = [];
  const chapters: { anchor: string; title: string }[] = [];
  let trail: string[] = [];

  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const inline = tokens[at + 1]!;
      const title = plain(inline);
      const level = Number(token.tag.slice(1));
      const anchor = slugOf(title, slugs);
      token.attrSet('id', anchor);
      trail = [...trail.slice(0, level - 1), title];
      sections.push({ anchor: level === 1 ? '' : anchor, titles: [...trail], text: '' });
      if (level === 2) chapters.push({ anchor, title });
      inline.children!.push(...mark(anchor));
    } else if (token.type === 'inline') {
      const isHeading = tokens[at - 1]?.type === 'heading_open';
      if (!isHeading) append(sections, plain(token));
      leadLinks(token, path, has, files);
    } else if (/^t[hd]_open$/.test(token.type) && token.attrGet('style') !== null) {
      // The policy of the page permits no style in an element.
      token.attrs = [['class', String(token.attrGet('style')).replace('text-align:', '')]];
    } else if (token.type === 'fence') {
      append(sections, token.content);
      if (token.info.trim() === 'mermaid') {
        token.type = 'html_block';
        token.content = `<figure>${await draw(dotOfStates(token.content))}</figure>\n`;
      }
    }
  }
  const html = markdown.renderer
    .render(tokens, markdown.options, {})
    .replaceAll('<table>', '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">');
  return {
    title: sections[0]?.titles[0] ?? path,
    html,
    chapters,
    sections: sections.map((section) => ({ page: addressOf(path), ...section })),
    files: [...files],
  };
}

function append(sections: { text: string }[], text: string): void {
  const last = sections.at(-1);
  if (last !== undefined) last.text += `${text}\n`;
}

/** The text of a heading or paragraph, without its marks. */
const plain = (token: Token): string =>
  (token.children ?? []).map(({ type, content }) => (/break$/.test(type) ? ' ' : content)).join('');

/** As GitHub names headings, so that one link works in both places. */
function slugOf(title: string, used: Map<string, number>): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
  const times = used.get(slug) ?? 0;
  used.set(slug, times + 1);
  return times === 0 ? slug : `${slug}-${times}`;
}

function mark(anchor: string): Token[] {
  const html = new MarkdownIt({ html: true }).parseInline(
    `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`,
    {},
  );
  return html[0]!.children!;
}

function leadLinks(token: Token, page: string, has: (path: string) => boolean, files: Set<string>): void {
  const left: Token[] = [];
  for (const child of token.children ?? []) {
    if (child.type === 'image') {
      files.add(posix.join(posix.dirname(page), String(child.attrGet('src'))));
      child.attrSet('loading', 'lazy');
    }
    if (child.type === 'link_close') {
      const opened = left.pop();
      if (opened?.tag === 'span') child.tag = 'span';
    }
    if (child.type !== 'link_open') continue;
    left.push(child);
    const [target = '', anchor] = String(child.attrGet('href')).split('#');
    if (target === '' || /^[a-z]+:/.test(target)) continue;
    const file = posix.join(posix.dirname(page), target);
    const hash = anchor === undefined ? '' : `#${anchor}`;
    if (!has(file)) {
      // A file of the repository: a reader of the site has none.
      child.tag = 'span';
      child.attrs = [['class', 'file'], ...(child.attrs ?? []).filter(([name]) => name === 'title')];
    } else if (file.endsWith('.md')) child.attrSet('href', target.replace(/(?:README)?\.md$/, asPage) + hash);
    else files.add(file);
  }
}

const asPage = (end: string): string => (end.startsWith('README') ? 'index.html' : '.html');
