import { dump, YAML11_SCHEMA } from 'js-yaml';
import { isError } from '../../../src/core/problems/diagnostic.ts';
import { parseYaml } from '../../../src/documents/index.ts';

/** Contents of a package by path. */
export type Contents = ReadonlyMap<string, string | Uint8Array>;

/** A small seeded generator (mulberry32): the same seed gives the same packages everywhere. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Random = () => number;
const pick = <T>(from: readonly T[], next: Random): T => from[Math.floor(next() * from.length)]!;

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  3.5,
  10,
  '',
  'x',
  'a b',
  '5.0.0',
  '4.0.0',
  '9.1',
  '*',
  '/[/',
  '/a.*/',
  [],
  [null],
  [1],
  ['a', 'a'],
  {},
  { a: 1 },
  { name: 'x' },
  [{}],
  [[]],
  'ubuntu',
  'metadata.yaml',
  '../x.yaml',
  '/etc/hostname',
  '**/*.yaml',
  '*',
  '.',
  'deployment_scripts/',
  'yes',
  '010',
  '12:30:45',
  '2016-01-01',
  'é',
  '\u{1F600}',
  '__proto__',
  'constructor',
  'toString',
  1e300,
];
const KEYS = [
  'name',
  'releases',
  'type',
  'id',
  'x_path',
  '_path',
  'tasks_path',
  'roles',
  'os',
  '__proto__',
  'constructor',
  'graphs',
  'metadata',
  'yaml_exp',
];
const SNIPPETS = [
  '!!python/object:os.system',
  '!x',
  '&a',
  '*a',
  '<<: *a',
  '---',
  '...',
  '\t',
  '{',
  '}',
  '[',
  ']',
  ': ',
  '- ',
  '? ',
  '"',
  "'",
  '|',
  '>',
  '#',
  '%YAML 1.1',
  '\u0000',
  '\ufeff',
  '\r',
  '{{',
  '@',
  '`',
  '=',
  '~',
];

const isData = (path: string): boolean => /\.(ya?ml|json)$/i.test(path);

/** One mutated package: one to three changes of text, structure or files. */
export function mutate(base: Contents, next: Random): Map<string, string | Uint8Array> {
  const files = new Map(base);
  const rounds = 1 + Math.floor(next() * 3);
  for (let round = 0; round < rounds; round++) {
    const kind = next();
    if (kind < 0.55) mutateStructure(files, next);
    else if (kind < 0.85) mutateText(files, next);
    else mutateFiles(files, next);
  }
  return files;
}

/** Changes values, keys and items of one YAML file, which stays YAML. */
export function mutateStructure(files: Map<string, string | Uint8Array>, next: Random): void {
  const path = pickData(files, next);
  const content = path === undefined ? undefined : files.get(path);
  if (path === undefined || typeof content !== 'string') return;
  const { documents, diagnostics } = parseYaml(content);
  if (diagnostics.some(isError) || documents.length !== 1) return;
  const data = documents[0]?.value;
  const holder: { root: unknown } = { root: structuredClone(data) };
  const places: { parent: Record<string, unknown> | unknown[]; key: string | number }[] = [];
  const walk = (parent: Record<string, unknown> | unknown[], key: string | number): void => {
    places.push({ parent, key });
    const value = (parent as Record<string | number, unknown>)[key];
    if (Array.isArray(value)) for (const index of value.keys()) walk(value, index);
    else if (value !== null && typeof value === 'object')
      for (const name of Object.keys(value)) walk(value as Record<string, unknown>, name);
  };
  walk(holder, 'root');
  const { parent, key } = pick(places, next);
  const kind = next();
  const target = parent as Record<string | number, unknown>;
  if (kind < 0.25 && key !== 'root') {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete target[key];
  } else if (kind < 0.65) target[key] = structuredClone(pick(VALUES, next));
  else if (kind < 0.8 && !Array.isArray(parent) && key !== 'root') {
    const value = target[key];
    delete target[key];
    Object.defineProperty(target, pick(KEYS, next), { value, enumerable: true, configurable: true, writable: true });
  } else {
    const value = target[key];
    if (Array.isArray(value)) value.push(structuredClone(pick(VALUES, next)));
    else if (value !== null && typeof value === 'object') {
      Object.defineProperty(value, pick(KEYS, next), {
        value: pick(VALUES, next),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else target[key] = [value];
  }
  files.set(path, dump(holder.root, { noRefs: true, schema: YAML11_SCHEMA, skipInvalid: true }));
}

function mutateText(files: Map<string, string | Uint8Array>, next: Random): void {
  const path = pickData(files, next);
  const content = path === undefined ? undefined : files.get(path);
  if (path === undefined || typeof content !== 'string') return;
  const lines = content.split('\n');
  const at = Math.floor(next() * lines.length);
  const kind = next();
  if (kind < 0.2) lines.splice(at, 1);
  else if (kind < 0.35) lines.splice(at, 0, lines[Math.floor(next() * lines.length)]!);
  else if (kind < 0.5) lines[at] = `${' '.repeat(Math.floor(next() * 4))}${lines[at]}`;
  else if (kind < 0.6) lines.length = at;
  else {
    const line = lines[at] ?? '';
    const column = Math.floor(next() * (line.length + 1));
    const rest = next() < 0.5 ? line.slice(column) : '';
    lines[at] = `${line.slice(0, column)}${pick(SNIPPETS, next)}${rest}`;
  }
  files.set(path, lines.join('\n'));
}

function mutateFiles(files: Map<string, string | Uint8Array>, next: Random): void {
  const path = pick([...files.keys()], next);
  const kind = next();
  if (kind < 0.3) files.delete(path);
  else if (kind < 0.45) files.set(path, '');
  else if (kind < 0.6)
    files.set(
      path,
      Uint8Array.from({ length: 40 }, () => Math.floor(next() * 256)),
    );
  else if (kind < 0.75) files.set(path, files.get(pick([...files.keys()], next))!);
  else if (kind < 0.9) {
    const content = files.get(path)!;
    files.delete(path);
    files.set(path.replace(/\.\w+$/, pick(['.yml', '.json', '.txt', '.conf', '', '.YAML'], next)), content);
  } else
    files.set(
      pick(
        [
          'tasks.yaml',
          'node_tags.yaml',
          'nic_config.yaml',
          'metadata.json',
          'metadata.d/x.yaml',
          'deployment_tasks.yaml/x',
        ],
        next,
      ),
      pick(['[]', '{}', '- 1', 'a: 1', ''], next),
    );
}

function pickData(files: Contents, next: Random): string | undefined {
  const paths = [...files.keys()].filter(isData);
  if (paths.length === 0) return undefined;
  // metadata.yaml matters most: change it as often as all other files together.
  const metadata = paths.find((path) => path.startsWith('metadata.'));
  return metadata !== undefined && next() < 0.5 ? metadata : pick(paths, next);
}
