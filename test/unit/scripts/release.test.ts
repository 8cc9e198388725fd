import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const HISTORIES = 'test/replay/histories';
const MANIFESTS = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/package.json`);
const CHART = 'deploy/helm/sitewright/Chart.yaml';
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.0.1] - 2026-01-01\n\n- First.\n';

let folder: string;

const git = (...args: string[]): string => {
  const who = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.test'];
  return execFileSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8' }).trim();
};
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
const artifacts = (command: string): void =>
  write('package.json', read('package.json').replace(/"artifacts": ".*"/, `"artifacts": "${command}"`));
const commit = (): string => git('add', '--all') + git('commit', '--quiet', '--message', 'work');
const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;

function release(...args: string[]) {
  const env = { ...process.env, GIT_AUTHOR_NAME: 'ann', GIT_AUTHOR_EMAIL: 'ann@example.test' };
  const script = [join(root, 'scripts/release.mjs'), '--folder', folder, '--date', '2027-01-01', ...args];
  const committer = { GIT_COMMITTER_NAME: 'ann', GIT_COMMITTER_EMAIL: 'ann@example.test' };
  const { status, stdout, stderr } = spawnSync(process.execPath, script, {
    encoding: 'utf8',
    env: { ...env, ...committer },
  });
  return { status, stdout, problems: stderr.trim().split('\n') };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-release-'));
  mkdirSync(join(folder, CHART, '..'), { recursive: true });
  for (const file of ['package.json', 'package-lock.json', 'README.md', 'docker-compose.yml', CHART, ...MANIFESTS])
    cpSync(join(root, file), join(folder, file));
  mkdirSync(join(folder, HISTORIES), { recursive: true });
  write(`${HISTORIES}/a--success--v0.1.0.json`, '{}\n');
  write('CHANGELOG.md', CHANGELOG);
  artifacts('mkdir release && cp package.json release');
  write('.gitignore', 'release/\n');
  git('init', '--quiet');
  commit();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a release', () => {
  it('sets the version of all files that have it, dates the changes, commits and tags', () => {
    expect(release('9.0.0')).toMatchObject({ status: 0 });
    expect(git('status', '--porcelain')).toBe('');
    expect(git('log', '-1', '--format=%s')).toBe('Release 9.0.0');
    expect(JSON.parse(read('package.json'))).toMatchObject({
      version: '9.0.0',
      dependencies: { '@sitewright/maas-simulator': '9.0.0' },
    });
    expect(read('README.md')).toContain('./sitewright-9.0.0.tgz demo');
    expect(read('README.md')).not.toContain(version);
    // The artifacts are those of this version.
    expect(JSON.parse(read('release/package.json'))).toMatchObject({ version: '9.0.0' });
    expect(JSON.parse(read('package-lock.json'))).toMatchObject({
      version: '9.0.0',
      packages: { '': { version: '9.0.0' } },
    });
    for (const manifest of MANIFESTS) {
      const about = JSON.parse(read(manifest));
      expect(about.version).toBe('9.0.0');
      expect(JSON.parse(read('package-lock.json')).packages[dirname(manifest)]).toMatchObject({
        version: '9.0.0',
        ...(about.dependencies === undefined ? {} : { dependencies: about.dependencies }),
      });
    }
    expect(JSON.parse(read('packages/maas-simulator/package.json')).devDependencies).toEqual({
      '@sitewright/maas': '9.0.0',
    });
    expect(read('docker-compose.yml')).toContain('SITEWRIGHT_VERSION:-9.0.0}');
    expect(read(CHART)).toMatch(/^version: 9\.0\.0$[\s\S]*^appVersion: 9\.0\.0$/m);
    expect(read('CHANGELOG.md')).toBe(
      CHANGELOG.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [9.0.0] - 2027-01-01\n'),
    );
    expect(git('tag', '--list', '--format=%(contents)', 'v9.0.0')).toBe('9.0.0\n\n### Added\n\n- A thing.');
    // Nothing else has changed.
    expect(git('diff', '--shortstat', 'HEAD~1')).toMatch(new RegExp(`^${6 + MANIFESTS.length} files changed`));
  });

  it('reports every obstacle, and changes nothing', () => {
    write('CHANGELOG.md', CHANGELOG.replace('### Added\n\n- A thing.\n\n', ''));
    write(`${HISTORIES}/b--success--v10.0.0.json`, '{}\n');
    write(`${HISTORIES}/c.json`, '{}\n');
    const before = git('rev-parse', 'HEAD');
    expect(release('0.0.1')).toEqual({
      status: 1,
      stdout: '',
      problems: [
        `- 0.0.1 is not later than ${version}`,
        '- there are uncommitted changes: commit them first',
        '- CHANGELOG.md has no unreleased changes',
        `- ${HISTORIES}/a--success--v0.1.0.json is named after a later version than 0.0.1`,
        `- ${HISTORIES}/b--success--v10.0.0.json is named after a later version than 0.0.1`,
        `- ${HISTORIES}/c.json does not end with the version that recorded it`,
        'Nothing was changed.',
      ],
    });
    expect(release('one').problems).toContain(
      "- 'one' is not a version: write three numbers, e.g. 1.0.0 or 1.0.0-rc.1",
    );
    expect(git('rev-parse', 'HEAD')).toBe(before);
  });

  it('is refused if a history of an earlier release has changed or is missing', () => {
    expect(release('9.0.0')).toMatchObject({ status: 0 });
    write('CHANGELOG.md', read('CHANGELOG.md').replace('## [Unreleased]\n', '## [Unreleased]\n\n- More.\n'));
    write(`${HISTORIES}/a--success--v0.1.0.json`, '{"changed": true}\n');
    commit();
    const problem = `- ${HISTORIES}/a--success--v0.1.0.json was recorded for v9.0.0, and differs`;
    expect(release('9.1.0').problems).toEqual([problem, 'Nothing was changed.']);
    rmSync(join(folder, `${HISTORIES}/a--success--v0.1.0.json`));
    commit();
    expect(release('9.1.0', '--check').problems).toEqual([problem, 'Nothing was changed.']);
  });

  it('changes nothing where an artifact cannot be made', () => {
    artifacts('exit 1');
    commit();
    const before = git('rev-parse', 'HEAD');
    expect(release('9.0.0')).toMatchObject({
      status: 1,
      problems: [expect.stringMatching(/^The artifacts cannot be made/)],
    });
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag', '--list')]).toEqual([before, '', '']);
    expect(JSON.parse(read('package.json'))).toMatchObject({ version });
  });

  it('follows its candidates', () => {
    const release9 = (of: string) => {
      write('CHANGELOG.md', CHANGELOG);
      artifacts(`mkdir -p release && echo ${of} >release/of`);
      commit();
      return release(of);
    };
    expect(release9('9.0.0-rc.1')).toMatchObject({ status: 0 });
    expect(git('tag', '--list')).toBe('v9.0.0-rc.1');
    expect(release('9.0.0-rc.1', '--check').problems).toContain('- 9.0.0-rc.1 is not later than 9.0.0-rc.1');
    expect(release9('9.0.0-rc.10')).toMatchObject({ status: 0 });
    expect(release('9.0.0-rc.2', '--check').problems).toContain('- 9.0.0-rc.2 is not later than 9.0.0-rc.10');
    expect(release9('9.0.0')).toMatchObject({ status: 0 });
    expect(release('9.0.0-rc.11', '--check').problems).toContain('- 9.0.0-rc.11 is not later than 9.0.0');
  });

  it('is only checked with --check', () => {
    expect(release('9.0.0', '--check')).toMatchObject({ status: 0, stdout: '9.0.0 can be released.\n' });
    expect(git('tag', '--list')).toBe('');
  });
});
