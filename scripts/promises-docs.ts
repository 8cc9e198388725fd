import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';

/** What a document of the specification promises, in our own words. */
interface Promised {
  readonly id: string;
  readonly section: string;
  readonly promise: string;
  /** Where it is met: a file or folder. */
  readonly where: string;
  /** What is missing, as long as something is. */
  readonly open?: string;
}

interface PromisingDocument {
  readonly document: string;
  readonly title: string;
  readonly promises: readonly Promised[];
}

export interface HoldingTest {
  readonly file: string;
  readonly title: string;
}

const root = fileURLToPath(new URL('../', import.meta.url));
export const PAGE = join(root, 'docs/promises.md');

export const promisingDocuments = (): readonly PromisingDocument[] =>
  load(readFileSync(join(root, 'test/data/promises.yaml'), 'utf8')) as readonly PromisingDocument[];

/** The tests below a line `// promise: 1.2 1.3`, by promise. @param mark `threat` for those of the threat model */
export function holdingTests(mark = 'promise'): ReadonlyMap<string, readonly HoldingTest[]> {
  const marks = new RegExp(`^ *// ${mark}: (.+)$`, 'gm');
  const found = new Map<string, HoldingTest[]>();
  for (const file of testFiles()) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const { 1: ids, index } of text.matchAll(marks)) {
      const title = titleAfter(text.slice(text.indexOf('\n', index) + 1));
      for (const id of ids!.trim().split(/\s+/)) {
        found.set(id, [...(found.get(id) ?? []), { file, title }]);
      }
    }
  }
  return found;
}

const testFiles = (): readonly string[] =>
  ['test', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => `${folder}/${file}`)
      .sort(),
  );

/** Of `it('…'` or `describe.each(…)('…'`. */
function titleAfter(after: string): string {
  const text = after.replace(/^(?:\s*\/\/.*\n)+/, '');
  const plain = /^\s*(?:it|describe)(?:\.skipIf\([^\n]*?\))?\(\s*(['"`])(.*?)\1/.exec(text);
  const each = /^\s*(?:it|describe)[\s\S]*?\)\(\s*(['"`])(.*?)\1,\s/.exec(text);
  const title = (plain ?? each)?.[2];
  if (title === undefined) throw new Error(`no test follows the mark above: ${text.slice(0, 100)}`);
  return title;
}

export const cell = (text: string): string => text.replaceAll('|', '\\|');

/** A link from a page in docs/. */
export const shownTest = ({ file, title }: HoldingTest): string => `[${cell(title)}](../${file})`;

/** docs/promises.md. */
export function promisesPage(): string {
  const tests = holdingTests();
  const row = ({ id, section, promise, where, open }: Promised): string => {
    const held = (tests.get(id) ?? []).map(shownTest).join('; ');
    return `| ${id} | ${cell(section)} | ${cell(promise)} | [${where}](../${where}) | ${open === undefined ? held : `**open**: ${cell(open)}`} |`;
  };
  const documents = promisingDocuments();
  const all = documents.flatMap(({ promises }) => promises);
  const open = all.filter((one) => one.open !== undefined).length;
  return [
    '# Promises of the specification',
    '',
    'Each promise of the five documents of the specification, where it is met, and the tests that hold it. The script',
    '`npm run docs:promises` makes this page of `test/data/promises.yaml` and of lines `// promise: 1.2` above tests; a promise',
    'without a test fails the tests.',
    '',
    `${all.length} promises, ${open === 0 ? 'none open' : `${open} open`}.`,
    ...documents.flatMap(({ title, promises }, at) => [
      '',
      `## ${at + 1}. ${title}`,
      '',
      '| no. | section | promise | where | held by |',
      '| --- | --- | --- | --- | --- |',
      ...promises.map(row),
    ]),
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, promisesPage());
