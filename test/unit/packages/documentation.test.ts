import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../cli/recording-terminal.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(join(REPOSITORY, 'docs/reference/packages.md'), 'utf8');

/** The steps of the page, in its order: files it has the reader write, and commands with their output. */
type Step = { kind: 'write'; path: string; content: string } | { kind: 'run'; command: string; prints: string };

function steps(): Step[] {
  const found: Step[] = [];
  for (const match of page.matchAll(/(?:<!-- write (\S+) -->\n)?```(\w+)\n(.*?)```/gs)) {
    const [, path, language, body] = match as unknown as [string, string | undefined, string, string];
    if (path !== undefined) found.push({ kind: 'write', path, content: body });
    else {
      expect(language).toBe('console');
      for (const [, command, prints] of body.matchAll(/^\$ sitewright (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
        found.push({ kind: 'run', command: command!, prints: prints! });
      }
    }
  }
  return found;
}

/** Runs the command as its shell would, in this process. */
async function sitewright(args: readonly string[]): Promise<{ out: string; err: string; status: number }> {
  const { code, ...written } = await cli(args);
  return { ...written, status: code };
}

describe('docs/reference/packages.md', () => {
  const home = process.cwd();
  const work = mkdtempSync(join(tmpdir(), 'sitewright-docs-'));
  beforeAll(() => process.chdir(work));
  afterAll(() => {
    process.chdir(home);
    rmSync(work, { recursive: true });
  });

  it('has commands that work from top to bottom', async () => {
    let commands = 0;
    for (const step of steps()) {
      if (step.kind === 'write') {
        mkdirSync(dirname(step.path), { recursive: true });
        writeFileSync(step.path, step.content);
        continue;
      }
      commands += 1;
      const { out, err, status } = await sitewright(step.command.split(' '));
      // `…` replaces text that differs from build to build.
      const expected = new RegExp(`^${step.prints.split('…').map(literally).join('[0-9a-f]+')}$`);
      expect(out + err, step.command).toMatch(expected);
      expect(status, step.command).toBe(step.prints.includes(': invalid\n') ? 1 : 0);
    }
    expect(commands).toBe(9);
  });

  it('has JSON and YAML answers as documented', async () => {
    const { out, status } = await sitewright(['package', 'check', 'example', '-f', 'json']);
    const answer = JSON.parse(out) as Record<string, unknown>;
    expect([status, Object.keys(answer)]).toEqual([0, ['verdict', 'errors', 'warnings', 'tree']]);
    expect(answer).toMatchObject({
      verdict: 'valid',
      tree: {
        releases: [
          { roles: { controller: {}, compute: {} }, base_release: { roles: {} }, deployment_scripts_path: 'scripts/' },
        ],
      },
    });
    const bad = await sitewright(['package', 'check', 'my-release', '-f', 'json']);
    expect(bad.status).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({
      verdict: 'invalid',
      errors: [
        { code: 'package.unknown-alias', file: 'release/metadata/tags.yaml', line: 1, path: '' },
        {
          code: 'package.value',
          file: 'release/graphs/deletion.yaml',
          line: 2,
          path: 'releases[0].graphs[2].tasks[0].type',
        },
      ],
    });
  });

  it.each(['check', 'build', 'install'])(
    '%s of a missing package ends with status 3, and the next step',
    async (verb) => {
      expect(await sitewright(['package', verb, 'nowhere'])).toEqual({
        out: '',
        err: 'error: nowhere does not exist\n  hint: Name the folder of a package, or an archive made by `package build`.\n',
        status: 3,
      });
    },
  );

  it('ends with status 2 when it cannot work, and with one line', async () => {
    expect(await sitewright(['package', 'create', 'my-release'])).toEqual({
      out: '',
      err: 'error: my-release already exists; choose another name\n',
      status: 2,
    });
    expect((await sitewright(['package', 'create', 'a b'])).err).toBe(
      "error: 'a b' is not a name for a package: use letters, digits, '_' and '-'\n",
    );
  });

  it('builds nothing of an invalid package', async () => {
    const { status, out } = await sitewright(['package', 'build', 'my-release', '-o', 'refused']);
    expect([status, out.includes('error[package.value]')]).toEqual([1, true]);
    expect(() => readdirSync('refused')).toThrow();
  });

  it('lists every code', () => {
    const folder = join(REPOSITORY, 'src/packages');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const codes = new Set(
      sources.flatMap((name) =>
        [...readFileSync(join(folder, name), 'utf8').matchAll(/'((?:package|archive)\.[a-z0-9-]+)'/g)].map(
          (match) => match[1]!,
        ),
      ),
    );
    const table = page.slice(page.indexOf('## All codes'));
    const listed = new Set([...table.matchAll(/(?:package|archive)\.[a-z0-9-]+/g)].map(([code]) => code));
    expect([...codes].sort()).toEqual([...listed].sort());
    expect(codes.size).toBeGreaterThan(60);
  });
});

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
