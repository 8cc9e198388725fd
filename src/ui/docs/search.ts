import MiniSearch, { type Options, type SearchResult } from 'minisearch';

/** A part of a page below one heading. */
export interface Section {
  /** `how-to/repair.html`. */
  readonly page: string;
  /** Of its heading; '' for the top of the page. */
  readonly anchor: string;
  /** From the page's title down to its own heading. */
  readonly titles: readonly string[];
  readonly text: string;
}

/** A section that was found. */
export interface Hit {
  readonly href: string;
  readonly titles: readonly string[];
  /** The words around the first that was asked for. */
  readonly excerpt: string;
}

/** Words that say nothing about what is looked for. */
const EMPTY = new Set(
  'a an and are as at be by did do for from how i in is it me my not now of on or so that the then to was what when while with'.split(
    ' ',
  ),
);

/** Who asks wants to do something. */
const WEIGHTS: readonly (readonly [start: string, weight: number])[] = [
  ['start/', 1.5],
  ['how-to/', 1.5],
];

const OPTIONS: Options = {
  fields: ['title', 'titles', 'text'],
  storeFields: ['href', 'titles', 'text'],
  idField: 'href',
  processTerm: (term) => (EMPTY.has(term.toLowerCase()) ? null : term.toLowerCase()),
  searchOptions: {
    boost: { title: 6, titles: 3 },
    boostDocument: (href) => WEIGHTS.find(([start]) => (href as string).startsWith(start))?.[1] ?? 1,
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    weights: { prefix: 0.5, fuzzy: 0.2 },
  },
};

/** The index of all sections, as the file that the site serves. */
export function indexOf(sections: readonly Section[]): string {
  const index = new MiniSearch(OPTIONS);
  index.addAll(
    sections.map(({ page, anchor, titles, text }) => ({
      href: anchor === '' ? page : `${page}#${anchor}`,
      title: titles.at(-1),
      titles,
      text,
    })),
  );
  return JSON.stringify(index);
}

/** Answers queries from the file that `indexOf` made: the best sections first, at most three of a page. */
export function searchIn(file: string): (query: string) => readonly Hit[] {
  const index = MiniSearch.loadJSON(file, OPTIONS);
  return (query) => {
    const ofPage = new Map<string, number>();
    // All words, where some section has them all.
    const all = index.search(query, { combineWith: 'AND' });
    const found = all.length > 0 ? [...all, ...index.search(query)] : index.search(query);
    const unique = [...new Map(found.map((one) => [one.id as string, one])).values()];
    return unique
      .filter(({ id }) => {
        const page = String(id).split('#')[0]!;
        ofPage.set(page, (ofPage.get(page) ?? 0) + 1);
        return ofPage.get(page)! <= 3;
      })
      .slice(0, 12)
      .map((result) => ({
        href: result.href as string,
        titles: result.titles as readonly string[],
        excerpt: excerptOf(result),
      }));
  };
}

function excerptOf({ text, terms }: SearchResult): string {
  const words = (text as string).replace(/\s+/g, ' ').trim();
  const at = Math.min(...terms.map((term) => words.toLowerCase().indexOf(term)).filter((place) => place >= 0));
  const from = Number.isFinite(at) ? Math.max(0, words.lastIndexOf(' ', Math.max(0, at - 50))) : 0;
  const end = words.length - from <= 160 ? words.length : words.lastIndexOf(' ', from + 160);
  const part = words.slice(from, end > from ? end : from + 160).trim();
  return `${from > 0 ? '… ' : ''}${part}${end < words.length ? ' …' : ''}`;
}
