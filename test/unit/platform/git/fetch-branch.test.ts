import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  branchProblem,
  commitUrl,
  folderProblem,
  gitHostOf,
  gitUrlProblem,
  isAllowedHost,
  repositorySecretProblem,
} from '../../../../src/core/sources/git-source.ts';
import { fetchBranch } from '../../../../src/platform/git/fetch-branch.ts';
import { type GitRepository, gitRepository } from '../../../rig/git-repository.ts';

describe('arguments of git', () => {
  it.each([
    'https://git.example.org/sites.git',
    'http://git.example.org:8080/a/b',
    'ssh://git@git.example.org:2222/sites.git',
    'git@git.example.org:team/sites.git',
    'git://[::1]/sites',
    'file:///srv/git/sites.git',
  ])('%s is an address', (url) => {
    expect(gitUrlProblem(url)).toBeUndefined();
  });

  it.each([
    'ext::sh -c touch% /tmp/x',
    'ext::sh',
    'fd::17',
    '--upload-pack=touch /tmp/x',
    '-oProxyCommand=x:y',
    'ssh://-oProxyCommand=x/y',
    '-oProxyCommand=x@host:path',
    'ssh://-l@host/path',
    'host:-path',
    'https://host/a b',
    'https://host/a\nb',
    'ftp://host/path',
    '/srv/git/sites.git',
    'sites.git',
    '',
    'https://nina:secret@host/path',
    'https://ghp_token@host/path',
    'https://a%40b@host/path',
  ])('%j is not', (url) => {
    expect(gitUrlProblem(url)).toBeTypeOf('string');
  });

  it.each(['main', 'release/10.0', 'a.b_c-d', 'größe'])('%s is a branch', (branch) => {
    expect(branchProblem(branch)).toBeUndefined();
  });
  it.each([
    '',
    '-x',
    '--all',
    'a..b',
    'a b',
    'a:b',
    'a*',
    'a^',
    'a~1',
    'a.lock',
    'a/',
    '.a',
    'a/.b',
    '@',
    'a@{1}',
    'a\n',
  ])('%j is not', (branch) => {
    expect(branchProblem(branch)).toBeTypeOf('string');
  });
  it.each([
    ['sites/dc1', true],
    ['..', false],
    ['a/../b', false],
    ['/a', false],
    ['a/', false],
    ['-a', false],
    [':(top)a', false],
  ])('%j as a folder: %s', (folder, fits) => {
    expect(folderProblem(folder) === undefined).toBe(fits);
  });

  it.each([
    ['https://github.com/a/b.git', 'https://github.com/a/b/commit/c0ffee'],
    ['https://nina@host:8080/a/b/', 'https://host:8080/a/b/commit/c0ffee'],
    ['git@host:a/b.git', 'https://host/a/b/commit/c0ffee'],
    ['ssh://git@host:2222/a/b.git', 'https://host/a/b/commit/c0ffee'],
    ['file:///srv/git/a.git', null],
    ['git://host/a', null],
  ])('a commit of %s is at %s', (url, page) => {
    expect(commitUrl(url, 'c0ffee')).toBe(page);
  });
});

describe('fetching', () => {
  let repository: GitRepository;
  let server: Server | undefined;
  const limits = { allowLocal: true, hosts: ['127.0.0.1'], timeoutMs: 60_000, maxBytes: 200_000 };
  beforeAll(async () => {
    repository = await gitRepository();
  });
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });
  afterAll(() => repository.remove());
  const source = (more: object = {}) => ({ url: repository.url, branch: 'main', ...more });
  const fetched = (more: object = {}, own: Partial<typeof limits> = {}) =>
    fetchBranch(source(more), undefined, { ...limits, ...own });

  it('returns the YAML files of the tip, without links', async () => {
    await repository.commit([{ name: 'old.yaml', text: 'old: 1\n' }]);
    await symlink('/etc/passwd', join(repository.folder, 'link.yaml'));
    const files = [
      { name: 'dc1/nodes.yaml', text: 'a: ä\n' },
      { name: 'dc1/more/x.yml', text: '' },
      { name: 'dc1/readme.md', text: 'no' },
      { name: 'dc1 and more/y.yaml', text: 'y: 1\n' },
    ];
    const commit = await repository.commit(files, 'Add rack 3\n\nmore');
    const all = await fetched();
    expect(all).toMatchObject({ commit, author: 'Eva', message: 'Add rack 3' });
    expect(all.files.map(({ name }) => name)).toEqual([
      'dc1 and more/y.yaml',
      'dc1/more/x.yml',
      'dc1/nodes.yaml',
      'old.yaml',
    ]);
    expect((await fetched({ folder: 'dc1' })).files).toEqual([
      { name: 'dc1/more/x.yml', text: '' },
      { name: 'dc1/nodes.yaml', text: 'a: ä\n' },
    ]);
  });

  it('reports the problem', async () => {
    await expect(fetched({ branch: 'nosuch' })).rejects.toThrow(/couldn't find remote ref refs\/heads\/nosuch/);
    await expect(fetched({ folder: 'nosuch' })).rejects.toThrow(/has no YAML files in nosuch/);
    await expect(fetched({ url: 'file:///nosuch' })).rejects.toThrow(/nosuch/);
    await expect(fetched({}, { allowLocal: false })).rejects.toThrow(/transport 'file' not allowed/);
  });

  it('runs no program that an address names, also of a stored source', async () => {
    const mark = join(repository.folder, 'ran');
    for (const url of [`ext::touch ${mark}`, `--upload-pack=touch ${mark}`])
      await expect(fetched({ url })).rejects.toThrow(/^the address must be/);
    await expect(fetched({ branch: `--upload-pack=touch ${mark}` })).rejects.toThrow(/^the branch/);
    expect(existsSync(mark)).toBe(false);
  });

  it('stops at its limits', async () => {
    await repository.git('checkout', '--quiet', '-b', 'big');
    await repository.commit([{ name: 'noise.bin', text: randomBytes(400_000) }]);
    await expect(fetched({ branch: 'big' })).rejects.toThrow(/larger than 200000 bytes/);
    // Small when sent, big when read.
    await repository.git('checkout', '--quiet', '-b', 'bomb', 'main');
    await repository.commit([{ name: 'bomb.yaml', text: 'a'.repeat(300_000) }]);
    await expect(fetched({ branch: 'bomb' })).rejects.toThrow(/YAML files have more than 200000 bytes/);
  });

  it('contacts no host that is not allowed, whatever form the address has, and sends it no secret', async () => {
    const seen: unknown[] = [];
    server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end('the answer of an inner service');
    });
    await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const elsewhere = { ...limits, hosts: ['git.example.org', '*.corp.example'] };
    for (const url of [
      `http://127.0.0.1:${port}/x`,
      `http://127.1:${port}/x`,
      `http://localhost:${port}/x`,
      `http://[::ffff:127.0.0.1]:${port}/x`,
      `git@127.0.0.1:x`,
      `ssh://git@127.0.0.1:${port}/x`,
      `git://127.0.0.1:${port}/x`,
      'https://git.example.org.evil.example/x',
      'https://corp.example/x',
      'https://xcorp.example/x',
    ])
      await expect(fetchBranch(source({ url }), 'a-secret', elsewhere)).rejects.toThrow(/is not among git\.hosts/);
    expect(seen).toEqual([]);
    for (const host of ['GIT.example.org', 'a.b.corp.example'])
      expect(isAllowedHost(gitHostOf(`https://${host}/x`)!, elsewhere.hosts)).toBe(true);
    expect(isAllowedHost('anything', [])).toBe(false);
  });

  it('follows no redirection, also without a credential, and does not repeat text of the server', async () => {
    const paths: (string | undefined)[] = [];
    server = createServer((request, response) => {
      paths.push(request.url);
      if (request.url?.startsWith('/moved/'))
        response.writeHead(302, { location: request.url.replace('/moved/', '/inner/') }).end('inner-words');
      else response.writeHead(500, { 'content-type': 'text/plain' }).end('inner-words of a service');
    });
    await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const path of ['/moved/x', '/answers/x']) {
      const error: unknown = await fetched({ url: `${at}${path}` }).catch((thrown: unknown) => thrown);
      expect(String(error)).toMatch(/GitError|Error/);
      expect(String(error)).not.toContain('inner-words');
    }
    expect(paths.filter((path) => path?.startsWith('/inner/'))).toEqual([]);
  });

  it('refuses secrets that are not for repositories', () => {
    for (const name of ['db/password', 'gitx/a', 'git', 'git/', '../git/a', 'GIT/a'])
      expect([name, repositorySecretProblem(name)]).toEqual([name, expect.stringContaining('git/')]);
    for (const name of ['git/reader', 'git/team/a']) expect(repositorySecretProblem(name)).toBeUndefined();
  });

  it('sends a credential only to its address, ends in time, and reveals neither', async () => {
    const seen: (string | undefined)[] = [];
    server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      if (seen.length > 1) return;
      response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end();
    });
    await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sites.git`;
    const redirected = fetchBranch(source({ url }), 'nina:hidden-word', limits);
    await expect(redirected).rejects.toThrow(/redirect|302/);
    expect(seen).toEqual([`Basic ${Buffer.from('nina:hidden-word').toString('base64')}`]);
    // It never answers.
    const silent = fetchBranch(source({ url }), 'nina:hidden-word', { ...limits, timeoutMs: 500 });
    const error: unknown = await silent.catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('took too long');
    expect(String(error)).not.toContain('hidden-word');
  });
});
