import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/shell/run-cli.ts';
import { packagePreparations } from '../../../src/clusters/package-preparations.ts';
import type { ClusterSources } from '../../../src/clusters/sources.ts';
import { DEFAULT_ARCHIVE_LIMITS, readPackageArchive } from '../../../src/packages/index.ts';
import { recordingTerminal } from '../cli/recording-terminal.ts';

const root = mkdtempSync(join(tmpdir(), 'sitewright-repositories-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

const folder = join(root, 'metrics');
mkdirSync(join(folder, 'repo'), { recursive: true });
mkdirSync(join(folder, 'scripts'));
writeFileSync(join(folder, 'scripts', 'site.pp'), '');
writeFileSync(
  join(folder, 'metadata.yaml'),
  JSON.stringify({
    name: 'metrics',
    title: 'Metrics',
    version: '1.0.0',
    package_version: '5.0.0',
    description: 'd',
    licenses: ['l'],
    authors: ['a'],
    homepage: 'https://example.org',
    groups: [],
    releases: [{ os: 'ubuntu', version: 'mitaka-1.0', deployment_scripts_path: 'scripts', repository_path: 'repo' }],
  }),
);
writeFileSync(join(folder, 'deployment_tasks.yaml'), '[]');

async function build(...options: string[]) {
  const terminal = recordingTerminal({ cwd: root });
  const code = await runCli(['package', 'build', folder, '-o', root, ...options], terminal);
  return { code, ...terminal.said };
}

/** Makes a Debian package without files in the repository. */
function makeDeb(name: string): void {
  const source = join(root, name);
  mkdirSync(join(source, 'DEBIAN'), { recursive: true });
  const control = `Package: ${name}\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: d\n`;
  writeFileSync(join(source, 'DEBIAN', 'control'), control);
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', source, join(folder, 'repo')]);
}

/** A plan's work on a node for the repository of the package: where its files go, and the script that configures it. */
function onNode(): { readonly dst: string; readonly script: string } {
  const sources = {
    release: {},
    plugins: [
      {
        name: 'metrics',
        files: {
          package: 'metrics-1.0',
          folder: '/etc/fuel/plugins/metrics-1.0/',
          scripts: undefined,
          repository: { src: 'package:metrics==1.0.0/repo', digest: '' },
        },
      },
    ],
  } as unknown as ClusterSources;
  const [{ tasks } = { tasks: [] }] = packagePreparations(sources);
  const [files, configure] = tasks.map(({ task }) => task.parameters as { dst?: string; cmd: string });
  const script = join(root, 'configure.sh');
  writeFileSync(script, configure!.cmd);
  return { dst: files!.dst!, script };
}

const isolated = (program: string): boolean =>
  process.getuid?.() === 0 && has(program) && spawnSync('unshare', ['-m', 'true']).status === 0;

describe.skipIf(!has('dpkg-scanpackages'))('the repository of a package', () => {
  it('is indexed at the build on request, otherwise a missing index is reported', async () => {
    makeDeb('sitewright-probe');
    const without = await build();
    expect(without.code).toBe(0);
    expect(without.err).toContain('repo has packages without an index, so nodes cannot install them');
    const made = await build('--index');
    expect([made.code, made.err]).toEqual([0, '']);
    const into = join(root, 'unpacked');
    const { tree } = await readPackageArchive(join(root, 'metrics-1.0.0.tar.gz'), DEFAULT_ARCHIVE_LIMITS, into);
    expect(readFileSync(join(into, 'repo/Packages'), 'utf8')).toContain('Package: sitewright-probe');
    expect(tree!.files.has('repo/Packages.gz')).toBe(true);
  });

  it.skipIf(!isolated('apt-get'))('is configured on a node, where apt installs from it', () => {
    const { dst, script } = onNode();
    // In a separate namespace: nothing of this machine's apt is changed.
    const inside = `set -e
mkdir -p /var/lib/sitewright
for at in /etc/apt/sources.list.d /var/lib/apt/lists /var/lib/sitewright; do mount -t tmpfs tmpfs $at; done
mkdir -p ${dst} && cp ${folder}/repo/* ${dst}
bash ${script} && bash ${script}
apt-get -s install sitewright-probe`;
    const { stdout, stderr, status } = spawnSync('unshare', ['-m', 'sh', '-c', inside], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('Inst sitewright-probe (1.0');
  });
});

describe.skipIf(!has('createrepo_c') || !has('rpmbuild'))('a repository of RPM packages', () => {
  const repo = join(folder, 'repo');
  beforeAll(() => {
    rmSync(repo, { recursive: true });
    mkdirSync(join(repo, 'noarch'), { recursive: true });
    const spec = join(root, 'probe.spec');
    const head = {
      Name: 'sitewright-probe',
      Version: '1.0',
      Release: '1',
      Summary: 's',
      License: 'l',
      BuildArch: 'noarch',
    };
    const fields = Object.entries(head).map(([key, value]) => `${key}: ${value}\n`);
    writeFileSync(spec, `${fields.join('')}%description\nd\n%files\n`);
    execFileSync('rpmbuild', [
      '--quiet',
      '-bb',
      '--define',
      `_rpmdir ${repo}`,
      '--define',
      `_topdir ${root}/rpm`,
      spec,
    ]);
  });

  it('is indexed reproducibly at the build on request, otherwise a missing index is reported', async () => {
    expect((await build()).err).toContain('repo has packages without an index, so nodes cannot install them');
    const made = await build('--index', '-f', 'json');
    expect([made.code, made.err]).toEqual([0, '']);
    const first = JSON.parse(made.out).sha256;
    const index = readFileSync(join(repo, 'repodata/repomd.xml'), 'utf8');
    rmSync(join(repo, 'repodata'), { recursive: true });
    expect(JSON.parse((await build('--index', '-f', 'json')).out).sha256).toBe(first);
    expect(readFileSync(join(repo, 'repodata/repomd.xml'), 'utf8')).toBe(index);
    const { tree } = await readPackageArchive(join(root, 'metrics-1.0.0.tar.gz'));
    expect(tree!.files.has('repo/repodata/repomd.xml')).toBe(true);
  });

  it.skipIf(!isolated('dnf'))('is configured on a node, where yum installs from it', () => {
    const { dst, script } = onNode();
    // In a separate namespace, with a copy of /etc: nothing of this machine is changed.
    const inside = `set -e
cp -a /etc ${root}/etc && mount --bind ${root}/etc /etc
mkdir -p /etc/yum.repos.d /var/lib/sitewright && mount -t tmpfs tmpfs /var/lib/sitewright
mkdir -p ${dst} && cp -r ${repo}/* ${dst}
bash ${script} && bash ${script}
cat /etc/yum.repos.d/*
dnf -y -q --releasever=1 --installroot=${root}/node --setopt=reposdir=/etc/yum.repos.d --setopt=cachedir=${root}/cache install sitewright-probe
rpm --root ${root}/node -q sitewright-probe`;
    const { stdout, stderr, status } = spawnSync('unshare', ['-m', 'sh', '-c', inside], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    expect(stdout).toContain(`baseurl=file://${dst}\n`);
    expect(stdout.trim().split('\n').at(-1)).toBe('sitewright-probe-1.0-1.noarch');
  });
});

describe('pre_build_hook', () => {
  it('runs on request, in the folder of the package, before it is read', async () => {
    expect((await build('--run-hook')).err).toContain('has no executable pre_build_hook');
    const hook = join(folder, 'pre_build_hook');
    writeFileSync(hook, '#!/bin/sh\necho made >scripts/made\n');
    chmodSync(hook, 0o755);
    expect((await build()).err).toContain('pre_build_hook was not run');
    expect((await build('--run-hook')).code).toBe(0);
    expect(readFileSync(join(folder, 'scripts/made'), 'utf8')).toBe('made\n');
    const { tree } = await readPackageArchive(join(root, 'metrics-1.0.0.tar.gz'));
    expect(tree!.files.has('scripts/made')).toBe(true);
  });

  it('that fails stops the build', async () => {
    writeFileSync(join(folder, 'pre_build_hook'), '#!/bin/sh\nexit 3\n');
    const failed = await build('--run-hook');
    expect([failed.code, failed.err]).toEqual([
      2,
      expect.stringContaining('pre_build_hook failed: it ended with exit code 3'),
    ]);
  });
});
