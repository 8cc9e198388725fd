import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { cell, type HoldingTest, holdingTests, shownTest } from './promises-docs.ts';

interface Sentence {
  readonly id: string;
  readonly sentence: string;
}

interface PartySentence extends Sentence {
  readonly does: 'can' | 'cannot';
  /** Why no test plays the attacker against running processes. */
  readonly belief?: string;
}

interface Threats {
  readonly parties: readonly {
    readonly party: string;
    readonly sentences: readonly PartySentence[];
  }[];
  readonly owasp: readonly (Sentence & { readonly risk: string })[];
  /** Holes that a reader of the code found, by what each allowed; closed since. */
  readonly found: readonly Sentence[];
}

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
export const SECURITY_PAGE = at('docs/security.md');

export const threats = (): Threats => load(readFileSync(at('test/data/threats.yaml'), 'utf8')) as Threats;

export const allSentences = ({ parties, owasp, found }: Threats): readonly Sentence[] => [
  ...parties.flatMap(({ sentences }) => sentences),
  ...owasp,
  ...found,
];

/** docs/security.md with its three tables as they should be. */
export function securityPage(): string {
  const tests = holdingTests('threat');
  const outside = holdingTests('outside');
  const shown = (found: readonly HoldingTest[] = []): string => found.map(shownTest).join('; ');
  const held = (id: string): string => shown(tests.get(id));
  const { parties, owasp, found } = threats();
  const model = parties.flatMap(({ party, sentences }) => [
    `### ${party}`,
    '',
    '| | | held by | from outside |',
    '| --- | --- | --- | --- |',
    ...sentences.map(({ id, does, sentence, belief }) => {
      const tried = belief === undefined ? shown(outside.get(id)) : `belief: ${cell(belief)}`;
      return `| ${does} | ${cell(sentence)} | ${held(id)} | ${tried} |`;
    }),
    '',
  ]);
  const risks = [
    '| risk | here | held by |',
    '| --- | --- | --- |',
    ...owasp.map(({ id, risk, sentence }) => `| ${risk} | ${cell(sentence)} | ${held(id)} |`),
    '',
  ];
  const holes = [
    '| attack | held by |',
    '| --- | --- |',
    ...found.map(({ id, sentence }) => `| ${cell(sentence)} | ${held(id)} |`),
    '',
  ];
  const page = between(readFileSync(SECURITY_PAGE, 'utf8'), 'threats', model);
  return between(between(page, 'owasp', risks), 'found', holes);
}

function between(page: string, name: string, lines: readonly string[]): string {
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/security.md has no place for ${name}`);
  return `${page.slice(0, from + start.length)}\n${lines.join('\n')}\n${page.slice(to)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(SECURITY_PAGE, securityPage());
