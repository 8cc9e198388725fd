import { FolderIndex, joinPath, type PackageTree, parentOf } from './package-tree.ts';

/** Matches of a path of metadata.yaml. */
type PathMatch =
  | { readonly kind: 'found'; readonly paths: readonly string[] }
  /** Absolute, or a `..` that climbs above the package. */
  | { readonly kind: 'outside' }
  | { readonly kind: 'none' };

/** No file system allows longer ones. */
const MAX_PATH_LENGTH = 4096;

/** Finds files and folders of a package by the paths in its metadata. */
export class PathFinder {
  readonly #tree: PackageTree;
  #index: FolderIndex | undefined;

  constructor(tree: PackageTree) {
    this.#tree = tree;
  }

  /** The folder a plain path names (`''` is the package itself); wildcards are literal characters here. */
  folder(written: string): string | undefined {
    const path = this.#plain(written);
    return path !== undefined && this.#tree.folders.has(path) ? path : undefined;
  }

  /** Whether a plain path or a glob leaves the package. */
  static leaves(written: string): boolean {
    if (written.startsWith('/') || written.startsWith('~/') || /^[A-Za-z]:[\\/]/.test(written)) return true;
    let depth = 0;
    for (const part of written.split('/')) {
      if (part === '..') depth -= 1;
      else if (part !== '' && part !== '.') depth += 1;
      if (depth < 0) return true;
    }
    return false;
  }

  /**
   * Files and folders a glob matches, sorted by path: `*`, `?`, `[…]` within one name, `**` as a whole name
   * for any folders between. Names that start with a dot need a dot in the pattern; braces are literal.
   */
  find(written: string): PathMatch {
    if (PathFinder.leaves(written)) return { kind: 'outside' };
    if (written.length > MAX_PATH_LENGTH) return { kind: 'none' };
    const parts = written.split('/').filter((part) => part !== '' && part !== '.');
    let found = new Set(['']);
    for (const [position, part] of parts.entries()) {
      const last = position === parts.length - 1;
      if (part === '**' && !last) found = this.#below(found);
      else {
        const next = new Set<string>();
        for (const folder of found) this.#step(folder, part, next);
        found = next;
      }
    }
    const folderWanted = written.endsWith('/');
    const paths = [...found].filter((path) => this.#exists(path) && !(folderWanted && this.#tree.files.has(path)));
    return paths.length === 0 ? { kind: 'none' } : { kind: 'found', paths: paths.sort() };
  }

  #step(folder: string, part: string, into: Set<string>): void {
    if (!this.#tree.folders.has(folder)) return;
    if (part === '..') {
      into.add(folder.slice(0, Math.max(folder.lastIndexOf('/'), 0)));
    } else if (/[*?[]/.test(part)) {
      this.#index ??= new FolderIndex(this.#tree);
      const matches = namePattern(part);
      for (const name of this.#index.names(folder)) {
        if (name.startsWith('.') && !part.startsWith('.')) continue;
        if (matches(name)) into.add(joinPath(folder, name));
      }
    } else if (this.#exists(joinPath(folder, part))) {
      into.add(joinPath(folder, part));
    }
  }

  /** All folders at or below those found, in a single pass. */
  #below(found: ReadonlySet<string>): Set<string> {
    const below = new Set<string>();
    const isBelow = (path: string): boolean =>
      found.has(path) || below.has(path) || (path !== '' && isBelow(parentOf(path)));
    for (const path of this.#tree.folders) if (isBelow(path)) below.add(path);
    return below;
  }

  #plain(written: string): string | undefined {
    if (PathFinder.leaves(written)) return undefined;
    let path = '';
    for (const part of written.split('/')) {
      if (part === '' || part === '.') continue;
      if (!this.#tree.folders.has(path)) return undefined;
      path = part === '..' ? path.slice(0, Math.max(path.lastIndexOf('/'), 0)) : joinPath(path, part);
    }
    return path;
  }

  #exists(path: string): boolean {
    return this.#tree.files.has(path) || this.#tree.folders.has(path);
  }
}

type CharacterTest = (character: string) => boolean;

/**
 * Matches one name against one part of a glob in time proportional to both lengths, even for a hostile pattern
 * with many stars.
 */
function namePattern(pattern: string): (name: string) => boolean {
  const tests = patternTests(pattern);
  return (name) => {
    const characters = [...name];
    let at = 0;
    let test = 0;
    let star = -1;
    let resume = 0;
    while (at < characters.length) {
      const current = tests[test];
      if (current === '*') {
        star = test++;
        resume = at;
      } else if (current?.(characters[at]!)) {
        at += 1;
        test += 1;
      } else if (star >= 0) {
        test = star + 1;
        at = ++resume;
      } else return false;
    }
    while (tests[test] === '*') test += 1;
    return test === tests.length;
  };
}

function patternTests(pattern: string): (CharacterTest | '*')[] {
  const characters = [...pattern];
  const tests: (CharacterTest | '*')[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index]!;
    if (character === '*') {
      if (tests.at(-1) !== '*') tests.push('*');
    } else if (character === '?') tests.push(() => true);
    else if (character === '[') {
      // A `]` right after the opening (or its `!`) is a member; an unclosed set is a literal `[`.
      const first = index + (characters[index + 1] === '!' ? 2 : 1);
      const end = characters.indexOf(']', first + 1);
      if (end < 0) tests.push((other) => other === '[');
      else {
        tests.push(characterSet(characters.slice(first, end), characters[index + 1] === '!'));
        index = end;
      }
    } else tests.push((other) => other === character);
  }
  return tests;
}

function characterSet(members: readonly string[], negated: boolean): CharacterTest {
  const ranges: [string, string][] = [];
  for (let index = 0; index < members.length; index++) {
    const isRange = members[index + 1] === '-' && index + 2 < members.length;
    ranges.push([members[index]!, isRange ? members[index + 2]! : members[index]!]);
    if (isRange) index += 2;
  }
  return (character) => ranges.some(([low, high]) => low <= character && character <= high) !== negated;
}
