import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** What a room of the house weighs. */
export interface Room {
  readonly lines: number;
  readonly files: number;
  /** Functions of more than `LONG` lines. */
  readonly long: number;
  /** Exported interfaces and aliases. */
  readonly types: number;
}

/** What `budget.json` allows, or what the tree has. */
export interface House {
  readonly rooms: Readonly<Record<string, Room>>;
  /** Pairs of rooms of which one imports the other. */
  readonly arrows: number;
  /** Files of at most `SMALL` lines that one other file imports. */
  readonly small: number;
  /** Of the pages of `docs/`, without code and what is generated. */
  readonly words: number;
}

const LONG = 80;
const SMALL = 40;

/** Programs, and what the page is made of besides. */
const PRODUCT = /^((src|packages)\/[\w-]+|workflows|activities|worker)\/.*\.(ts|tsx|css|html)$/;

/** `packages/maas/src` for its sources only: a package's tests are no part of the product. */
function roomOf(file: string): string | undefined {
  if (!PRODUCT.test(file)) return undefined;
  const [first = '', second = '', third] = file.split('/');
  if (first === 'packages') return third === 'src' ? `packages/${second}` : undefined;
  return first === 'src' ? `src/${second}` : first;
}

/** What has grown above its budget, a sentence a room. What has shrunk is no matter: branches can be merged in any order. */
export function overBudget(budget: House, house: House): readonly string[] {
  const grown = (name: string, allowed: object, found: object): string[] => {
    const limits = new Map(Object.entries(allowed));
    const more = Object.entries(found).flatMap(([what, now]) => {
      const limit = limits.get(what);
      return limit !== undefined && now <= limit ? [] : [`${what} ${limit ?? 0} -> ${now}`];
    });
    return more.length === 0 ? [] : [`${name}: ${more.join(', ')}`];
  };
  const { rooms, ...whole } = house;
  const { rooms: listed, ...limits } = budget;
  return [
    ...Object.entries(rooms).flatMap(([name, room]) => grown(name, listed[name] ?? {}, room)),
    ...Object.keys(listed).flatMap((name) => (name in rooms ? [] : [`${name}: there is no such room any more`])),
    ...grown('all rooms', limits, whole),
  ];
}

/** The house as it is in the tree: what is tracked, or about to be. */
export function houseIn(root: string): House {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((file) => PRODUCT.test(file) && existsSync(join(root, file)));
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  const pages = listed.split('\n').filter((file) => PAGE.test(file) && existsSync(join(root, file)));
  return {
    ...measure(new Map(files.map((file) => [file, read(file)])), doorsOf(root, files)),
    words: pages.reduce((sum, page) => sum + wordsByHand(read(page)), 0),
  };
}

const PAGE = /^docs\/(?!reference\/(cli|settings|task-types)\.md).*\.md$/;
/** Code, and what scripts write into a page. */
const NOT_BY_HAND =
  /^```[\s\S]*?^```|<!-- routes: [\s\S]*|<!-- library: [\s\S]*?<!-- end of library -->|^<!-- \w+ \w+ -->\n\n\|[\s\S]*?<!-- end -->/gm;

/** Words of a page that somebody wrote. */
export const wordsByHand = (page: string): number => page.replace(NOT_BY_HAND, '').match(/\S*\w\S*/g)?.length ?? 0;

/** @param doors files by the names of packages that others import them by */
export function measure(
  texts: ReadonlyMap<string, string>,
  doors: ReadonlyMap<string, string> = new Map(),
): Omit<House, 'words'> {
  const rooms = new Map<string, Room>();
  const importers = new Map<string, Set<string>>();
  const arrows = new Set<string>();
  const lengths = new Map<string, number>();
  for (const [file, text] of texts) {
    const room = roomOf(file);
    if (room === undefined) continue;
    const lines = text.split('\n').length - 1;
    lengths.set(file, lines);
    const code = /\.tsx?$/.test(file) ? readCode(file, text) : { long: 0, types: 0, imports: [] };
    const before = rooms.get(room) ?? { lines: 0, files: 0, long: 0, types: 0 };
    rooms.set(room, {
      lines: before.lines + lines,
      files: before.files + 1,
      long: before.long + code.long,
      types: before.types + code.types,
    });
    for (const name of code.imports) {
      const to = name.startsWith('.') ? join(dirname(file), name) : doors.get(name);
      const other = to === undefined ? undefined : roomOf(to);
      if (to === undefined || other === undefined) continue;
      importers.set(to, (importers.get(to) ?? new Set()).add(file));
      if (other !== room) arrows.add(`${room} ${other}`);
    }
  }
  const isSmall = ([file, lines]: readonly [string, number]): boolean =>
    lines <= SMALL && importers.get(file)?.size === 1;
  return {
    rooms: Object.fromEntries([...rooms].sort(([one], [other]) => (one < other ? -1 : 1))),
    arrows: arrows.size,
    small: [...lengths].filter(isSmall).length,
  };
}

function doorsOf(root: string, files: readonly string[]): ReadonlyMap<string, string> {
  const packages = new Set(files.flatMap((file) => /^packages\/[\w-]+/.exec(file)?.[0] ?? []));
  return new Map(
    [...packages].flatMap((folder) => {
      const { name, exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
        readonly name: string;
        readonly exports: Readonly<Record<string, string>>;
      };
      return Object.entries(exports).map(([door, file]) => [join(name, door), join(folder, file)] as const);
    }),
  );
}

function readCode(file: string, text: string) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const lineOf = (at: number): number => source.getLineAndCharacterOfPosition(at).line;
  const imports: string[] = [];
  let long = 0;
  let types = 0;
  const visit = (node: ts.Node): void => {
    const named = ts.isImportDeclaration(node) || ts.isExportDeclaration(node) ? node.moduleSpecifier : undefined;
    const loaded = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const name = named ?? (loaded ? node.arguments[0] : undefined);
    if (name !== undefined && ts.isStringLiteral(name)) imports.push(name.text);
    const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
    if (isType && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) types += 1;
    if (ts.isFunctionLike(node) && 'body' in node && lineOf(node.end) - lineOf(node.getStart(source)) >= LONG)
      long += 1;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { long, types, imports };
}
