import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Our own code: tracked or about to be, no data. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(
    (path) =>
      /\.(ts|mjs|js)$/.test(path) &&
      !/^(test\/data|packages\/[\w-]+\/test\/data|examples)\//.test(path) &&
      existsSync(root + path),
  );

const read = (path: string): string => readFileSync(root + path, 'utf8');

describe('our files', () => {
  it('are found', () => expect(files).toContain('test/architecture/files.test.ts'));

  it('are named after the concept they hold, in kebab-case', () => {
    const named = (path: string): string => basename(path).replace(/(\.(test|config|bench|d))*\.(ts|mts|mjs|js)$/, '');
    const grabBags = /^((.*-)?(utils?|helpers?|managers?|misc|common)|types)$/;
    expect(files.filter((path) => grabBags.test(named(path)))).toEqual([]);
    expect(files.filter((path) => !/^\.?[a-z0-9]+(-[a-z0-9]+)*$/.test(named(path)))).toEqual([]);
  });

  it('hold something of their own, unless they are the door of a room or a package', () => {
    const notOwn = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^(import|export (type )?[{*])[\s\S]*?;$/gm;
    const inside = /^(src\/[\w-]+\/(?!index\.ts)|(workflows|activities|worker)\/)/;
    const barrels = files.filter((path) => inside.test(path) && !/\S/.test(read(path).replace(notOwn, '')));
    expect(barrels).toEqual([]);
  });

  it('run in Node.js unchanged, types included', () => {
    const refused = files.flatMap((path) => {
      try {
        stripTypeScriptTypes(read(path));
        return [];
      } catch (error) {
        return [`${path}: ${error}`];
      }
    });
    expect(refused).toEqual([]);
  });

  it('contain no path of the machine they were written on', () => {
    const homes = new RegExp(['/work', '/main|/ro', 'ot/|/ho', 'me/[a-z]+/'].join(''));
    expect(files.filter((path) => homes.test(read(path)))).toEqual([]);
  });
});
