import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainMissing, findTemporalBinary } from '../../../../src/platform/temporal/find-server.ts';

const NEW = 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)';
const OLD = 'temporal version 1.0.0 (Server 1.24.2, UI 2.28.0)';

describe('findTemporalBinary', () => {
  let home: string;
  let env: NodeJS.ProcessEnv;
  let said: string[];
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'sitewright-find-'));
    // Fake programs are shell scripts; /bin has the shell and no Go.
    env = { HOME: home, PATH: `${home}/bin1:${home}/bin2`, SITEWRIGHT_CACHE: `${home}/cache` };
    said = [];
  });
  afterEach(() => rm(home, { recursive: true }));

  const program = async (path: string, body: string): Promise<string> => {
    const file = join(home, path);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, `#!/bin/sh\n${body}\n`);
    await chmod(file, 0o755);
    return file;
  };
  const temporal = (path: string, version = NEW): Promise<string> => program(path, `echo "${version}"`);
  const cached = 'cache/temporal-1.5.1/temporal';
  /** Writes a Go that "builds" by counting its calls; the result lands in GOBIN. */
  const go = (version = NEW): Promise<string> =>
    program(
      'bin2/go',
      `echo "$@" >> ${home}/go-calls; echo package-a >&2; printf '#!/bin/sh\\necho "${version}"\\n' > "$GOBIN/temporal"; /bin/chmod +x "$GOBIN/temporal"`,
    );
  const noDownload = async (): Promise<never> => {
    throw new Error('no internet');
  };
  const find = (options: Parameters<typeof findTemporalBinary>[0] = {}) =>
    findTemporalBinary({ env, report: (line) => said.push(line), fetchArchive: noDownload, ...options });

  it('prefers TEMPORAL_CLI over PATH, and PATH over the cache', async () => {
    await temporal(cached);
    expect(await find()).toMatchObject({ source: 'cache', path: join(home, cached), serverVersion: '1.29.1' });
    const onPath = await temporal('bin2/temporal');
    expect(await find()).toMatchObject({ source: 'PATH', path: onPath });
    env.TEMPORAL_CLI = await temporal('own/my-temporal');
    expect(await find()).toMatchObject({ source: 'TEMPORAL_CLI', path: env.TEMPORAL_CLI });
  });

  it.each([
    ['too old', `echo "${OLD}"`, 'older than'],
    ['another program', 'echo "hello"', 'is not a Temporal CLI'],
    ['broken', 'echo "cannot execute" >&2; exit 3', '--version'],
  ])('skips a candidate that is %s, and reports it', async (_, body, why) => {
    const bad = await program('bin1/temporal', body);
    const good = await temporal('bin2/temporal');
    expect(await find()).toMatchObject({ status: 'found', path: good });
    expect(said.join('\n')).toContain(bad);
    expect(said.join('\n')).toContain(why);
  });

  it('skips a file that is not executable and a folder of that name', async () => {
    env.TEMPORAL_CLI = await temporal('own/temporal');
    await chmod(env.TEMPORAL_CLI, 0o644);
    await mkdir(join(home, 'bin1/temporal'), { recursive: true });
    const good = await temporal(cached);
    expect(await find()).toMatchObject({ path: good, source: 'cache' });
    expect(said).toHaveLength(2);
  });

  describe('of a downloaded archive', () => {
    const archive = async () => {
      await temporal('release/temporal');
      const bytes = execFileSync('tar', ['-czf', '-', '-C', join(home, 'release'), 'temporal']);
      return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
    };

    it('uses the one with the checksum, once', async () => {
      const { bytes, sha256 } = await archive();
      let downloads = 0;
      const fetchArchive = async () => {
        downloads++;
        return bytes;
      };
      const options = { archive: { url: 'https://x/archive.tar.gz', sha256 }, fetchArchive };
      expect(await find(options)).toMatchObject({ status: 'found', source: 'download', path: join(home, cached) });
      expect(await find(options)).toMatchObject({ status: 'found', source: 'cache' });
      expect(downloads).toBe(1);
      expect(await readdir(join(home, 'cache'))).toEqual(['temporal-1.5.1']);
    });

    it('runs none with another checksum, and builds with Go instead', async () => {
      await go();
      const { bytes } = await archive();
      // Not the release of this platform.
      expect(await find({ fetchArchive: async () => bytes })).toMatchObject({ status: 'found', source: 'go-install' });
      expect(said.join('\n')).toContain('another checksum');
    });
  });

  it('builds with Go when the download fails, into the cache, leaving nothing else there', async () => {
    await go();
    expect(await find()).toMatchObject({ status: 'found', source: 'go-install', path: join(home, cached) });
    expect(await readFile(join(home, 'go-calls'), 'utf8')).toBe(
      'install -v github.com/temporalio/cli/cmd/temporal@v1.5.1\n',
    );
    expect(await readdir(join(home, 'cache'))).toEqual(['temporal-1.5.1']);
    expect(await find()).toMatchObject({ source: 'cache' });
  });

  it('does not put a build into the cache that does not run', async () => {
    await go('garbage');
    expect((await find()).status).toBe('missing');
    expect(await readdir(join(home, 'cache'))).toEqual([]);
  });

  it('builds once for two that start together', async () => {
    await go();
    const both = await Promise.all([find(), find()]);
    expect(both.map(({ status }) => status)).toEqual(['found', 'found']);
    expect((await readFile(join(home, 'go-calls'), 'utf8')).trim().split('\n')).toHaveLength(1);
  });

  it('takes over the lock of a process that died', async () => {
    await go();
    const dead = spawn(process.execPath, ['-e', '']);
    await new Promise((done) => dead.once('close', done));
    await mkdir(join(home, 'cache'));
    const { hostname } = await import('node:os');
    await writeFile(join(home, 'cache/temporal.lock'), JSON.stringify({ pid: dead.pid, host: hostname() }));
    expect(await find()).toMatchObject({ source: 'go-install' });
  });

  it('neither downloads nor builds when it only searches', async () => {
    await go();
    const missing = await find({ effort: 'look', fetchArchive: () => expect.unreachable() });
    expect(missing.status).toBe('missing');
  });

  it('reports each place, its failure and the next step, when all fail', async () => {
    const missing = await find();
    if (missing.status === 'found') throw new Error('found');
    expect(missing.attempts.map(({ source }) => source)).toEqual([
      'TEMPORAL_CLI',
      'PATH',
      'cache',
      'download',
      'go-install',
    ]);
    const text = explainMissing(missing);
    expect(text).toContain('TEMPORAL_CLI: it is not set');
    expect(text).toContain('no internet');
    expect(text).toContain('Go is not installed');
    for (const { next } of missing.attempts) expect(text).toContain(next);
  });

  it("reports Go's message when the build fails", async () => {
    await program('bin2/go', 'echo "go: cannot find module" >&2; exit 1');
    const missing = await find();
    if (missing.status === 'found') throw new Error('found');
    expect(explainMissing(missing)).toContain('cannot find module');
  });
});
