import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUDGETS } from '../../src/core/contracts/budget.ts';
import { graphRunName } from '../../src/core/graph-run/title.ts';
import { freePort } from '../../src/platform/free-port.ts';
import { type Answer, type AttackedSystem, attackedSystem, CANARY, curl } from '../rig/attacked-system.ts';

/*
 * The threat model of docs/explain/security.md, played against a running installation with programs of the system: curl, openssl,
 * tar, a raw socket. Attacks from the other side of Temporal are in secure-agents.test.ts.
 */

let system: AttackedSystem;
let [mallory, nina, otto] = ['', '', ''];
/** The run that is held, and later running: its id, and its name in orders. */
let [run, name] = ['', ''];
let [first, second] = ['', ''];

const as = (token: string) => ['-H', `Authorization: Bearer ${token}`];
const json = (body: unknown) => ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)];
const ask = (token: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  curl(`${system.api}/api/v1${path}`, '-X', method, ...as(token), ...(body === undefined ? [] : json(body)));
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const read = ({ body }: Answer): any => JSON.parse(body);

/** Requests many addresses with one program; returns the statuses. */
async function statuses(
  requests: readonly { readonly method: string; readonly url: string }[],
  header = 'Accept: */*',
): Promise<readonly number[]> {
  const each = requests.map(({ method, url }) =>
    [`url = "${url}"`, `request = ${method}`, 'output = /dev/null', 'write-out = "%{http_code}\\n"', 'globoff']
      .concat('insecure', 'silent', 'path-as-is', 'max-time = 60', `header = "${header}"\n`)
      .join('\n'),
  );
  const file = system.at('requests');
  writeFileSync(file, each.join('next\n'));
  const { stdout } = await promisify(execFile)('curl', ['--config', file], { maxBuffer: 1e7 });
  return stdout.trim().split('\n').map(Number);
}

/** Everything in an answer or a file of the installation, except the files that are meant to have secrets. */
function filesBelow(top: string, meant: readonly string[]): string[] {
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !meant.some((one) => path.startsWith(one)));
}

const audit = async (): Promise<{ actor: string; action: string; target: string; details?: { kind?: string } }[]> =>
  (await system.store.audit.list({ limit: 1000 })).items as never;

beforeAll(async () => {
  system = await attackedSystem();
  [first, second] = system.environment.nodes.map(String) as [string, string];
  const tokenOf = async (name: string, role: string) =>
    read(await ask(system.admin, 'POST', '/tokens', { name, role })).token as string;
  [mallory, nina, otto] = [
    await tokenOf('mallory', 'viewer'),
    await tokenOf('nina', 'operator'),
    await tokenOf('otto', 'operator'),
  ] as [string, string, string];
  writeFileSync(system.at('hold'), '');
  const limits = { timeout: 120, retries: 0, interval: 0 };
  const shell = { type: 'shell', version: '2.1.0', fail_on_error: false };
  const uses = [{ name: 'DB', ref: 'db/password', as: 'environment' }];
  const tasks = [
    {
      ...shell,
      id: 'prints',
      role: ['controller'],
      secrets: uses,
      parameters: { cmd: `printf '\\033]0;owned\\007\\033[2Jhello %s\\nERROR made-up\\r\\n' "$DB"`, ...limits },
    },
    {
      id: 'reads',
      type: 'copy_files',
      version: '2.1.0',
      role: ['controller'],
      fail_on_error: false,
      parameters: { files: [{ src: system.at('host-file'), dst: system.at('allowed/stolen') }] },
    },
    {
      id: 'places',
      type: 'upload_file',
      version: '2.1.0',
      role: ['controller'],
      fail_on_error: false,
      parameters: { path: system.at('forbidden'), data: 'x', ...limits },
    },
    {
      ...shell,
      id: 'held',
      role: ['compute'],
      secrets: uses,
      parameters: { cmd: `while [ -e ${system.at('hold')} ]; do sleep 0.1; done`, ...limits },
    },
  ];
  const graph = `/clusters/${system.environment.cluster}/deployment_graphs/custom`;
  expect((await ask(nina, 'POST', graph, { tasks })).status).toBe(201);
  const started = await ask(nina, 'POST', '/graphs/execute/', {
    cluster: system.environment.cluster,
    graphs: [{ type: 'custom' }],
    hold_before: ['*'],
  });
  expect(started, started.body).toMatchObject({ status: 202 });
  while (run === '') run = read(await ask(mallory, 'GET', '/runs')).items[0]?.id ?? '';
}, 120_000);
afterAll(() => system?.stop());

describe('without a token', () => {
  it('every route requires one, except those that tell how to get one, and no request makes the API fail', async () => {
    const { paths } = read(await curl(`${system.api}/openapi.json`, ...as(mallory)));
    const urls = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        url: `${system.api}${path.replaceAll(/\{[^}]+\}/g, '1')}`,
      })),
    );
    const found = await statuses(urls);
    expect(found).toHaveLength(urls.length);
    const open = urls
      .filter((_, at) => found[at] !== 401)
      .map(({ method, url }) => `${method} ${new URL(url).pathname}`);
    expect(open.sort()).toEqual([
      'GET /api/v1/health',
      'GET /api/v1/health/live',
      'GET /api/v1/session',
      'GET /api/v1/version',
      'POST /api/v1/session',
      'POST /api/v1/session/exchange',
    ]);
    for (const path of ['/', '/sites/dc1']) expect((await curl(`${system.api}${path}`)).status).toBe(200);
    for (const path of ['/assets/../../package.json', '/assets/..%2f..%2fpackage.json', '/%00', '/metrics/'])
      expect([400, 401, 404]).toContain((await curl(`${system.api}${path}`)).status);
  });

  it('bytes that are not a request, and long addresses, are refused, and fill no log', async () => {
    const { port } = new URL(system.api);
    const before = system.log('api').length;
    const texts = [
      'GET / HTTP/9.9\r\n\r\n',
      `GET /${'a'.repeat(8_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /?${'token=swt_'.repeat(800)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(100_000)}\r\n\r\n`,
      'POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{"token":',
      '\u0000\u0001\u0002\r\n\r\n',
    ];
    for (const text of texts) {
      const client = spawn('openssl', ['s_client', '-quiet', '-connect', `127.0.0.1:${port}`], {
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      client.stdin.on('error', () => undefined).write(text);
      let said = '';
      client.stdout.on('data', (piece) => (said += piece));
      const timer = setTimeout(() => client.kill(), 5_000);
      await Promise.race([once(client, 'close'), once(client.stdout, 'data').then(() => client.kill())]);
      clearTimeout(timer);
      expect(said, text.slice(0, 60)).not.toMatch(/^HTTP\/1\.1 5/);
    }
    expect((await curl(`${system.api}/health/live`)).status).toBe(200);
    const lines = system.log('api').slice(before).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(4_000);
  });

  it('no token can be guessed from a nearly right one, nor found where tokens are stored', async () => {
    const others = [0, 10, 30, 40, 60].map((at) => {
      const index = Math.min(at + 4, mallory.length - 1);
      return `${mallory.slice(0, index)}${mallory[index] === 'A' ? 'B' : 'A'}${mallory.slice(index + 1)}`;
    });
    for (const guess of [...others, mallory.slice(0, -1), `${mallory}A`, mallory.toLowerCase(), 'swt_'])
      expect((await ask(guess, 'GET', '/me')).status, guess).toBe(401);
    expect((await ask(mallory, 'GET', '/me')).status).toBe(200);
    expect((await ask(system.admin, 'GET', '/tokens')).body).not.toContain(mallory.slice(31));
    const secrets = [mallory, nina, system.admin].map((token) => token.slice(31));
    const ticket = JSON.parse(readFileSync(system.at(`ticket-of-${second}.json`), 'utf8')) as { token: string };
    for (const file of filesBelow(system.folder, [system.at('ticket-of-')])) {
      const bytes = readFileSync(file);
      for (const secret of [...secrets, ticket.token]) expect(bytes.includes(secret), `${file}`).toBe(false);
    }
  });

  it('a token that expires or is revoked ends the streams and transfers that use it', async () => {
    const soon = new Date(Date.now() + 1_500).toISOString();
    const [lost, brief] = await Promise.all([
      ask(system.admin, 'POST', '/tokens', { name: 'lost', role: 'viewer' }),
      ask(system.admin, 'POST', '/tokens', { name: 'brief', role: 'viewer', expires: soon }),
    ]);
    const streams = [lost, brief].map((made) => curl(`${system.api}/api/v1/events`, '-N', ...as(read(made).token)));
    expect((await ask(read(lost).token, 'GET', '/me')).status).toBe(200);
    expect((await ask(system.admin, 'DELETE', '/tokens/lost')).status).toBe(200);
    // curl would wait for a minute.
    const begun = performance.now();
    await Promise.all(streams);
    expect(performance.now() - begun).toBeLessThan(30_000);
    for (const made of [lost, brief]) expect((await ask(read(made).token, 'GET', '/me')).status).toBe(401);
  });

  it('an API without tokens serves only this machine and its own pages, with a limit for each address', async () => {
    const port = await freePort();
    const plain = `http://127.0.0.1:${port}/api/v1`;
    const env = {
      SITEWRIGHT_API_PORT: String(port),
      SITEWRIGHT_API_RATE_LIMIT_PER_MINUTE: '60',
      SITEWRIGHT_STORE_URL: `sqlite:${system.at('plain.db')}`,
    };
    const open = await system.command(['api'], { ...env, SITEWRIGHT_API_HOST: '0.0.0.0' });
    expect(open.code, open.output).not.toBe(0);
    expect(open.output).toContain('access.tokens');
    const api = system.start('plain', ['api'], env);
    try {
      await expect.poll(async () => (await curl(`${plain}/health/live`)).status).toBe(200);
      const sites = ['-X', 'POST', ...json({ name: 'dc9' })];
      expect((await curl(`${plain}/sites`, '-H', 'Host: evil.example')).status).toBe(403);
      expect((await curl(`${plain}/sites`, '-H', 'Origin: https://evil.example', ...sites)).status).toBe(403);
      expect((await curl(`${plain}/sites`, '-H', 'Sec-Fetch-Site: cross-site', ...sites)).status).toBe(403);
      const [own] = execFileSync('hostname', ['-I'], { encoding: 'utf8' }).split(' ');
      if (own?.includes('.')) expect((await curl(`http://${own}:${port}/api/v1/sites`)).status).toBe(0);
      const many = await statuses(Array.from({ length: 80 }, () => ({ method: 'GET', url: `${plain}/sites` })));
      expect(new Set(many)).toEqual(new Set([200, 429]));
      const refused = await curl(`${plain}/sites`);
      expect(refused.head).toMatch(/^retry-after: \d+/im);
      expect((await curl(`${plain}/sites`, '--interface', '127.0.0.2')).status).toBe(200);
    } finally {
      api.kill('SIGKILL');
    }
  });

  it('the gateway reads nothing without a token or certificate, and slows down callers who try tokens', async () => {
    const enrol = (token: string, request: string) =>
      curl(`${system.gateway}/v1/enrol`, ...json({ token, request }), '--interface', '127.0.0.3');
    const begun = performance.now();
    const hostile = `-----BEGIN CERTIFICATE REQUEST-----${' '.repeat(7_900)}`;
    expect(await enrol('swt_guess', hostile)).toMatchObject({ status: 403 });
    expect(performance.now() - begun).toBeLessThan(20_000);
    for (const path of ['order', 'secret', 'source', 'output', 'renew', 'alarm'])
      expect((await curl(`${system.gateway}/v1/${path}`, ...json({}))).status).toBe(401);
    for (let at = 0; at < 20; at++) await enrol(`guess-${at}`, 'x');
    const waits = await enrol('guess', 'x');
    expect(waits.status).toBe(429);
    expect(waits.head).toMatch(/^retry-after: \d+/im);
    // Nobody else does.
    const other = await curl(`${system.gateway}/v1/enrol`, ...json({ token: 'guess', request: 'x' }));
    expect(other.status).toBe(403);
  });

  it('refused callers are slowed down, and nobody else is', async () => {
    const guesses = Array.from({ length: 500 }, () => ({ method: 'GET', url: `${system.api}/api/v1/sites` }));
    const flood = ['--parallel', '--parallel-max', '200', '--interface', '127.0.0.4', '-k', '-s', '--no-keepalive'];
    const outputs = guesses.flatMap(({ url }) => ['-o', '/dev/null', url]);
    const tries = execFile('curl', [...flood, '-w', '%{http_code}\n', '--max-time', '20', ...outputs]);
    let said = '';
    tries.stdout!.on('data', (piece) => (said += piece));
    const me = await ask(mallory, 'GET', '/me');
    expect(me.status).toBe(200);
    await expect.poll(() => /^000$/m.test(said), { timeout: 30_000 }).toBe(true);
    expect(said).toMatch(/^401$/m);
    tries.kill();
  });
});

describe('who signs in', () => {
  /** Through the provider's pages, with the cookies of one browser. */
  async function signIn(user: string, { login = '/auth/login?return_to=/', jar = user } = {}): Promise<Answer> {
    const cookies = ['-c', system.at(`${jar}.jar`), '-b', system.at(`${jar}.jar`)];
    let answer = await curl(`${system.api}${login}`, ...cookies);
    let at = `${system.api}${login}`;
    for (let step = 0; step < 20; step++) {
      const to = /^location: (\S+)/im.exec(answer.head)?.[1];
      const action = /<form[^>]*action="([^"]+)"/.exec(answer.body)?.[1];
      if (to === undefined && action === undefined) return answer;
      at = new URL(to ?? action!, at).href;
      if (at.startsWith(system.api) && !at.includes('/auth/')) return answer;
      const prompt = /name="prompt" value="([^"]+)"/.exec(answer.body)?.[1] ?? '';
      const form = to === undefined ? ['-d', `prompt=${prompt}&login=${user}&password=any`] : [];
      answer = await curl(at, ...cookies, ...form);
    }
    throw new Error(`still signing in at ${at}`);
  }

  it('needs a role, a verified address, a name of their own, and the browser that began; the cookie is for TLS and no script', async () => {
    const { users } = system.provider;
    users.set('vera', { groups: ['staff'] });
    users.set('noone', { groups: ['else'] });
    users.set('liar', { groups: ['site-admins'], email_verified: false });
    const vera = await signIn('vera');
    expect(vera.head).toMatch(/^set-cookie: __Host-sitewright=[^;]+;(?=.*HttpOnly)(?=.*Secure)(?=.*SameSite=Strict)/im);
    const cookies = ['-b', system.at('vera.jar')];
    expect(read(await curl(`${system.api}/api/v1/me`, ...cookies))).toMatchObject({ role: 'viewer' });
    for (const user of ['noone', 'liar']) {
      const refused = await signIn(user);
      expect(refused.head, user).not.toMatch(/^set-cookie: __Host-sitewright=[^;]/im);
      expect((await curl(`${system.api}/api/v1/me`, '-b', system.at(`${user}.jar`))).status).toBe(401);
    }
    // The answer of the provider in a browser that did not ask.
    const other = await curl(`${system.api}/auth/callback?code=abc&state=def`, '-b', system.at('empty.jar'));
    expect(other.head).not.toMatch(/^set-cookie: __Host-sitewright=[^;]/im);
    for (const to of ['//evil.example', 'https://evil.example', '/\\evil.example']) {
      const answer = await signIn('vera', { login: `/auth/login?return_to=${encodeURIComponent(to)}` });
      expect(answer.head).not.toMatch(/^location: .*evil/im);
    }
    // A planted cookie, and one of an attacker without the prefix.
    expect((await curl(`${system.api}/api/v1/me`, '-H', `Cookie: sitewright=${mallory}`)).status).toBe(401);
  });

  it('changes nothing by a page of another site', async () => {
    system.provider.users.set('anna', { groups: ['site-admins'] });
    await signIn('anna');
    const cookies = ['-b', system.at('anna.jar')];
    for (const from of ['Origin: https://evil.example', 'Origin: null', 'Sec-Fetch-Site: same-site']) {
      const answer = await curl(`${system.api}/api/v1/sites`, ...cookies, '-H', from, ...json({ name: 'evil' }));
      expect(answer.status, from).toBe(403);
    }
    const own = ['-H', `Origin: ${system.api}`, '-H', 'Sec-Fetch-Site: same-origin'];
    expect((await curl(`${system.api}/api/v1/sites`, ...cookies, ...own, ...json({ name: 'dc1' }))).status).toBe(201);
    // An admin ends the session.
    const session = read(await ask(system.admin, 'GET', '/tokens')).items.find(
      ({ name, kind }: { name: string; kind: string }) => kind === 'session' && name.startsWith('anna'),
    );
    expect((await ask(system.admin, 'DELETE', `/tokens/${session.id}`)).status).toBe(200);
    expect((await curl(`${system.api}/api/v1/me`, ...cookies)).status).toBe(401);
  });

  it('reaches the API only over TLS 1.2 or newer, which curl trusts by its authority alone', async () => {
    expect((await curl(`${system.api}/health/live`, '--cacert', system.at('api.pem'))).status).toBe(200);
    expect((await curl(`${system.api}/health/live`, '--cacert', '/dev/null')).status).toBe(0);
    for (const [address, old] of [
      [system.api, ['--tls-max', '1.1']],
      [system.gateway, ['--tls-max', '1.1']],
      [system.api.replace('https', 'http'), []],
    ] as const)
      expect((await curl(`${address}/health/live`, ...old)).status).toBe(0);
  });
});

describe('a viewer', () => {
  it('reads everything but tokens and changes nothing; an operator does no admin’s work', async () => {
    const { paths } = read(await curl(`${system.api}/openapi.json`, ...as(mallory)));
    const urls = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        path,
        // Without an owner: accepted requests change nothing.
        url: `${system.api}${path.replaceAll(/\{[^}]+\}/g, '987654')}`,
      })),
    );
    const streams = /events$|\/logs\//;
    const asked = urls.filter(({ path }) => !streams.test(path));
    const found = await statuses(asked, `Authorization: Bearer ${mallory}`);
    const of = (wanted: (method: string) => boolean) =>
      asked.flatMap(({ method, path }, at) =>
        wanted(method) ? [{ at: `${method} ${path}`, status: found[at]! }] : [],
      );
    const reads = of((method) => method === 'GET').filter(({ status }) => status === 401 || status === 403);
    expect(reads.map(({ at }) => at)).toEqual(['GET /api/v1/tokens']);
    const lets = of((method) => method !== 'GET').filter(({ status }) => status !== 403);
    expect(lets.map(({ at }) => at).sort()).toEqual([
      'DELETE /api/v1/session',
      'POST /api/v1/clusters/{id}/attributes/plan',
      'POST /api/v1/clusters/{id}/rehearsals',
      'POST /api/v1/documents/check',
      'POST /api/v1/graphs/check/',
      'POST /api/v1/session',
      'POST /api/v1/session/exchange',
      'POST /api/v1/sites/{site}/rehearsals',
      'POST /api/v1/sites/{site}/revisions/{ref}/select',
      'POST /api/v1/sites/{site}/source/webhook',
    ]);
    const admins = [
      ['POST', '/tokens', { name: 'x', role: 'admin' }],
      ['DELETE', '/sites/dc1', undefined],
      ['DELETE', `/clusters/${system.environment.cluster}`, undefined],
      ['DELETE', `/releases/${system.environment.release}`, undefined],
      ['POST', '/packages', undefined],
    ] as const;
    for (const [method, path, body] of admins) expect((await ask(nina, method, path, body)).status, path).toBe(403);
  });

  it('delays nobody with documents, graphs, pictures or bodies that never arrive, and fills no memory', async () => {
    const { port } = new URL(system.api);
    const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${system.pids.api}/status`, 'utf8'))![1]);
    const before = memory();
    const waiting = Array.from({ length: 40 }, () => {
      const client = spawn('openssl', ['s_client', '-quiet', '-connect', `127.0.0.1:${port}`], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      client.stdin.on('error', () => undefined);
      const head = `POST /api/v1/documents/check HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${mallory}\r\nContent-Type: application/json\r\n`;
      client.stdin.write(`${head}Content-Length: 30000000\r\n\r\n{"files":[`);
      return client;
    });
    const hostile = `k:\n  j: [\n${`a,${' '.repeat(20)}\n`.repeat(1_000)}]\n`;
    const ring = Array.from({ length: 1_000 }, (_, at) => ({
      id: `t${at}`,
      type: 'shell',
      version: '2.1.0',
      tags: ['x'],
      requires: [`t${(at + 1) % 1_000}`],
      parameters: { cmd: 'true', timeout: 1 },
    }));
    const bodies = { documents: { files: [{ name: 'a.yaml', text: hostile }] }, graphs: { name: 'g', tasks: ring } };
    for (const [name, body] of Object.entries(bodies)) writeFileSync(system.at(`${name}.json`), JSON.stringify(body));
    const attacks = Array.from({ length: 2 * BUDGETS.reading.atOnce }, (_, at) =>
      curl(
        `${system.api}/api/v1/${at % 2 === 0 ? 'documents/check' : 'graphs/check/'}`,
        ...as(mallory),
        '-H',
        'Content-Type: application/json',
        '--data-binary',
        `@${system.at(at % 2 === 0 ? 'documents.json' : 'graphs.json')}`,
      ),
    );
    let isOver = false;
    const over = Promise.all(attacks).then((answers) => {
      isOver = true;
      return answers;
    });
    let served = 0;
    do {
      expect((await ask(nina, 'GET', '/clusters/')).status).toBe(200);
      served += 1;
    } while (!isOver);
    for (const { status } of await over) expect([200, 400, 429, 503]).toContain(status);
    for (const client of waiting) client.kill('SIGKILL');
    expect(served).toBeGreaterThan(1);
    expect(memory() - before).toBeLessThan(700_000);
  });
});

describe('an operator', () => {
  it('acts under their own name, and does not approve what they started', async () => {
    expect((await ask(nina, 'POST', `/runs/${run}/approve`, { by: 'otto', reason: 'mine' })).status).toBe(409);
    const claimed = [...as(nina), '-H', 'X-Sitewright-User: otto'];
    const approve = `${system.api}/api/v1/runs/${run}/approve`;
    expect((await curl(approve, ...claimed, ...json({}))).status).toBe(409);
    expect((await ask(mallory, 'POST', `/runs/${run}/approve`, {})).status).toBe(403);
    const schedule = {
      name: 'nightly',
      kind: 'update_site',
      cron: ['@daily'],
      input: { site: 'dc1', started_by: 'otto' },
    };
    const made = await ask(nina, 'POST', '/schedules', schedule);
    expect(made.status, made.body).toBe(400);
    expect(made.body).toContain('started_by');
    const right = await ask(otto, 'POST', `/runs/${run}/approve`, {});
    expect(right.status, right.body).toBeLessThan(300);
    const actors = (await audit()).filter(({ action }) => /run\.start|graph/.test(action)).map(({ actor }) => actor);
    expect(new Set(actors)).toEqual(new Set(['nina']));
  });

  it('makes no worker contact a host, or send it a secret, that the settings do not name', async () => {
    let asked = 0;
    const host = createServer((socket) => {
      asked += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(host, 'listening');
    const { port } = host.address() as { port: number };
    await ask(nina, 'POST', '/sites', { name: 'dc2' });
    const site = new URL('../../examples/first-site/', import.meta.url);
    const files = readdirSync(site)
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => ({ name, text: readFileSync(new URL(name, site), 'utf8') }));
    const stored = await ask(nina, 'POST', '/sites/dc2/revisions', { files, message: 'first' });
    expect(stored.status, stored.body).toBeLessThan(300);
    const follow = (more: object) => ask(nina, 'PUT', '/sites/dc2/source', { branch: 'main', ...more });
    expect((await follow({ url: 'https://git.example.org/a', credential: 'db/password' })).status).toBe(400);
    for (const url of [`http://127.0.0.1:${port}/a.git`, `http://git.example.org@127.0.0.1:${port}/a.git`]) {
      const followed = await follow({ url });
      if (followed.status === 400) continue;
      expect(followed, followed.body).toMatchObject({ status: 200 });
      const started = await ask(nina, 'POST', '/sites/dc2/runs', { kind: 'update_site', fetch: true });
      expect(started.status, started.body).toBe(202);
      const { id } = read(started);
      const report = async () => (await ask(nina, 'GET', `/runs/${id}/report`)).body;
      await expect.poll(report, { timeout: 60_000, interval: 200 }).toContain('git.hosts');
    }
    host.close();
    expect(asked).toBe(0);
  });
});

describe('the author of a package', () => {
  const archive = (file: string) => [
    '-H',
    'Content-Type: application/gzip',
    '--data-binary',
    `@${resolve(system.folder, file)}`,
  ];
  /** An archive as GNU tar makes it. */
  async function install(work: string): Promise<Answer> {
    const folder = system.at(`package-${Math.random().toString(36).slice(2)}`);
    const script = `mkdir -p ${folder} && cd ${folder} && ${work}`;
    execFileSync('sh', ['-ec', script]);
    const sent = archive(join(folder, 'out.tar.gz'));
    return curl(`${system.api}/api/v1/packages`, '-X', 'POST', ...as(system.admin), ...sent);
  }
  const head = 'mkdir p && printf "name: thing\\nversion: 1.0.0\\n" >p/metadata.yaml';

  it('places nothing outside, fills no memory, runs nothing, and installs all or nothing', async () => {
    const before = (await ask(system.admin, 'GET', '/packages')).body;
    const attacks = {
      'a path out of the folder': `${head} && echo x >evil && tar czf out.tar.gz -P --transform 's,^evil,../../evil,' p evil`,
      'an absolute path': `${head} && tar czPf out.tar.gz p /etc/hostname`,
      'a link out of the folder': `${head} && ln -s /etc/passwd p/link && tar czf out.tar.gz p`,
      'a hard link': `${head} && echo x >p/a && ln p/a p/b && tar czf out.tar.gz p`,
      'a device': `${head} && tar czf out.tar.gz -P p /dev/null`,
      'a bomb': `${head} && truncate -s 40M p/zeros && tar cf - p | gzip -1 >out.tar.gz`,
      'a tag of YAML': `${head} && printf 'a: !!js/function "process.exit()"\\n' >p/tasks.yaml && tar czf out.tar.gz p`,
      'half an archive': `${head} && head -c 100000 /dev/urandom >p/data && tar czf all.tar.gz p && head -c 50000 all.tar.gz >out.tar.gz`,
    };
    const answers = await Promise.all(
      Object.entries(attacks).map(async ([kind, work]) => {
        // Four at a time are accepted.
        for (;;) {
          const { status, body } = await install(work);
          if (status !== 503) return { kind, status, body };
          await pause(200);
        }
      }),
    );
    for (const { kind, status, body } of answers) expect([400, 413], `${kind}: ${body}`).toContain(status);
    expect((await ask(system.admin, 'GET', '/packages')).body).toBe(before);
    expect((await curl(`${system.api}/health/live`)).status).toBe(200);
    expect(existsSync(system.at('evil'))).toBe(false);
    const trail = (await audit()).map(({ actor, action }) => `${actor} ${action}`);
    expect(trail).toContain('root token.create');
    expect(trail.filter((one) => one.includes('package'))).toEqual([]);
  });

  it('has their tasks installed by an admin, on the record', async () => {
    for (const work of ['create', 'build'])
      expect(await system.command(['package', work, 'thing'])).toMatchObject({ code: 0 });
    const answer = await curl(
      `${system.api}/api/v1/packages`,
      '-X',
      'POST',
      ...as(system.admin),
      ...archive('thing-1.0.0.tar.gz'),
    );
    expect(answer.status, answer.body).toBe(201);
    const [release] = read(answer).releases as { id: number }[];
    const graph = await ask(mallory, 'GET', `/releases/${release!.id}/deployment_graphs/default`);
    expect(read(graph).tasks.length).toBeGreaterThan(0);
    expect((await audit()).map(({ actor, action }) => `${actor} ${action}`)).toContain('root package.install');
  });
});

describe('a node', () => {
  const folderOf = (node: string) => system.at(`node-${node}`);
  /** With the files that a thief copied from the node. */
  const asNode = (node: string) => {
    const credentials = JSON.parse(readFileSync(join(folderOf(node), 'credentials.json'), 'utf8')) as {
      key: string;
      certificate: string;
    };
    const [key, certificate] = [system.at(`thief-${node}.key`), system.at(`thief-${node}.pem`)];
    writeFileSync(key, credentials.key, { mode: 0o600 });
    writeFileSync(certificate, credentials.certificate);
    return ['--cert', certificate, '--key', key] as const;
  };
  const post = (node: string, path: string, body: unknown) =>
    curl(`${system.gateway}/v1/${path}`, ...asNode(node), ...json(body));
  const key = (task: string, node: string, generation = 1) => ({ run: name, task, node, generation });

  it('gets its own secrets while its run is open, and nothing of another', async () => {
    const transactions = () => system.store.transactions.list({ clusterId: system.environment.cluster });
    await expect
      .poll(async () => (await transactions()).some(({ parentId }) => parentId !== null), { timeout: 60_000 })
      .toBe(true);
    const graph = (await transactions()).find(({ parentId }) => parentId !== null)!;
    const parent = await system.store.transactions.get(graph.parentId!);
    name = graphRunName(graph.id, parent.temporalRunId!);
    const own = () => post(second, 'secret', { ...key('held', second), ref: 'db/password' });
    await expect.poll(async () => (await own()).status, { timeout: 60_000, interval: 200 }).toBe(200);
    expect(read(await own())).toEqual({ value: CANARY });
    for (const [path, body] of [
      ['secret', { ...key('prints', first), ref: 'db/password' }],
      ['secret', { ...key('held', second), ref: 'git/other' }],
      ['source', { ...key('held', second), path: system.at('host-file') }],
      ['order', { ...key('prints', first), plan: 'x', type: 'shell', mode: 'apply' }],
      ['order', { ...key('held', second, 2), plan: 'x', type: 'shell', mode: 'apply' }],
    ] as const)
      expect((await post(second, path, body)).status, JSON.stringify(body)).toBe(403);
    const ends = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        read(await ask(nina, 'GET', `/runs/${run}/tasks`)).items.map(
          (one: { task: string; status: string; message: string }) => [one.task, `${one.status} ${one.message}`],
        ),
      );
    await expect.poll(ends, { timeout: 60_000, interval: 300 }).toEqual({
      held: 'running null',
      prints: 'success null',
      places: expect.stringMatching(/^ignored .* is refused: .* is under none of /),
      reads: expect.stringMatching(/^ignored .*host-file: EACCES$/),
    });
    // Tasks that its own policy forbids, and files outside the folders for sources.
    expect(existsSync(system.at('forbidden'))).toBe(false);
    expect(existsSync(system.at('allowed/stolen'))).toBe(false);
  });

  it('makes no gateway fail, and fills neither log store nor audit trail', async () => {
    const bodies = ['', '{', '[]', 'null', '{"run":{}}', `{"run":"${'x'.repeat(2_000)}"}`, '[['.repeat(5_000)];
    for (const path of ['order', 'secret', 'source', 'result', 'alarm', 'renew', 'cancel', 'drain', 'output?stream=x'])
      for (const body of bodies) {
        const sent = ['-H', 'Content-Type: application/json', '--data-raw', body];
        const { status } = await curl(`${system.gateway}/v1/${path}`, ...asNode(second), ...sent);
        expect(status, `${path} ${body.slice(0, 20)}`).toBeGreaterThanOrEqual(400);
        expect(status, `${path} ${body.slice(0, 20)}`).toBeLessThan(500);
      }
    const query = new URLSearchParams({
      ...key('held', second),
      generation: '7',
      stream: 'stdout',
      offset: '0',
    } as never);
    const output = ['-H', 'Content-Type: application/octet-stream', '--data-binary', 'made up'];
    expect((await curl(`${system.gateway}/v1/output?${query}`, ...asNode(second), ...output)).status).toBe(403);
    const alarms = system.at('alarms');
    const common = `insecure\nsilent\noutput = /dev/null\nheader = "Content-Type: application/json"\ncert = "${asNode(second)[1]}"\nkey = "${asNode(second)[3]}"\nurl = "${system.gateway}/v1/alarm"\n`;
    const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    const each = Array.from({ length: 100 }, (_, at) => {
      const message = `${at}\n{"level":60,"msg":"forged"}`;
      return `${common}data-raw = ${quoted(JSON.stringify({ kind: `a-${'b'.repeat((at % 26) + 1)}`, message }))}\n`;
    });
    writeFileSync(alarms, each.join('next\n'));
    await promisify(execFile)('curl', ['--config', alarms]);
    const reported = (await audit()).filter(
      ({ action, target }) => action === 'agent.alarm' && target === `node/${system.site}/${second}`,
    );
    expect(reported.length).toBeGreaterThan(20);
    expect(reported.length).toBeLessThan(60);
    expect(system.log('gateway')).not.toMatch(/^\{"level":60,"msg":"forged"/m);
  });

  it('writes nothing into a terminal, and its secret is in no answer, log, metric or file', async () => {
    const shown = await Promise.all(
      [
        ['run', 'logs', run],
        ['run', 'status', run],
        ['run', 'show', run],
        ['audit', 'list'],
      ].map((args) =>
        system.command(args, {
          SITEWRIGHT_API: system.api,
          SITEWRIGHT_TOKEN: mallory,
          NODE_EXTRA_CA_CERTS: system.at('api.pem'),
        }),
      ),
    );
    expect(shown[0]!.output).toContain('hello');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
    for (const { output } of shown) expect(output).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    const paths = ['', '/status', '/report', '/tree', '/logs', `/nodes/${first}/tasks/prints/log`, '/tasks'];
    const answers = await Promise.all(paths.map((path) => ask(mallory, 'GET', `/runs/${run}${path}`)));
    const metrics = await curl(`${system.api}/metrics`, ...as(mallory));
    expect(metrics.status).toBe(200);
    for (const text of [...answers, metrics].map(({ body }) => body).concat(shown.map(({ output }) => output)))
      expect(text).not.toContain(CANARY);
    for (const file of filesBelow(system.folder, [system.at('secrets')]))
      expect(readFileSync(file).includes(CANARY), file).toBe(false);
  });

  it('enrols once; revoked, it does not come back, with a renewal sent at the same moment either', async () => {
    const ticket = JSON.parse(readFileSync(system.at(`ticket-of-${second}.json`), 'utf8')) as { token: string };
    const request = execFileSync(
      'openssl',
      [
        'req',
        '-new',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        system.at('thief.key'),
        '-subj',
        '/CN=x',
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const enrol = () => curl(`${system.gateway}/v1/enrol`, ...json({ token: ticket.token, request }));
    expect((await enrol()).body).toContain('token-used');
    const renew = () => post(second, 'renew', { request });
    const [revoked, ...renewals] = await Promise.all([
      system.command(['identity', 'revoke', system.site, second, '--reason', 'stolen']),
      ...Array.from({ length: 30 }, async (_, at) => {
        await pause(at * 40);
        return renew();
      }),
    ]);
    expect(revoked!.code, revoked!.output).toBe(0);
    expect((await post(second, 'alarm', { kind: 'x', message: 'x' })).status).toBe(401);
    for (const answer of renewals.filter(({ status }) => status === 200)) {
      writeFileSync(system.at('renewed.pem'), read(answer).certificate);
      const held = ['--cert', system.at('renewed.pem'), '--key', system.at('thief.key')];
      expect((await curl(`${system.gateway}/v1/order-keys`, ...held)).status).toBe(401);
    }
    expect((await enrol()).status).toBe(403);
    const kinds = (await audit()).filter(({ action }) => action === 'agent.alarm').map(({ details }) => details?.kind);
    for (const kind of ['token-used-twice', 'revoked-token', 'revoked-certificate']) expect(kinds).toContain(kind);
    rmSync(system.at('hold'));
  });
});

describe('the network, and another user of the machine', () => {
  it('gets no token by posing as the gateway', async () => {
    const port = await freePort();
    const server = spawn(
      'openssl',
      ['s_server', '-accept', `127.0.0.1:${port}`, '-key', system.at('api.key'), '-cert', system.at('api.pem')],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
    let heard = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (piece) => (heard += String(piece)));
    const isOpen = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined));
        socket.on('error', () => resolve(false));
      });
    await expect.poll(isOpen).toBe(true);
    const ticket = JSON.parse(readFileSync(system.at(`ticket-of-${first}.json`), 'utf8')) as { token: string };
    execFileSync('mkdir', ['-m', '700', system.at('fooled')]);
    const fooled = { ...ticket, gateway: `https://127.0.0.1:${port}` };
    writeFileSync(system.at('fooled/ticket.json'), JSON.stringify(fooled), { mode: 0o600 });
    const agent = system.start('fooled', ['agent', 'serve', '--folder', system.at('fooled')]);
    await expect.poll(() => system.log('fooled'), { timeout: 30_000 }).toMatch(/certificate|TLS|self.signed/i);
    agent.kill('SIGKILL');
    server.kill('SIGKILL');
    expect(heard).not.toContain(ticket.token);
    expect(heard).not.toContain('/v1/enrol');
  });

  it.skipIf(process.getuid?.() !== 0)('reads neither the store nor the gateway’s folder', () => {
    const others = ['--reuid=65534', '--regid=65534', '--clear-groups'];
    execFileSync('chmod', ['755', system.folder]);
    for (const path of ['store/store.db', 'store/store.db-wal', 'gateway', 'task-logs', 'secrets/db/password']) {
      expect(existsSync(system.at(path)), path).toBe(true);
      expect(() => execFileSync('setpriv', [...others, 'ls', '-R', system.at(path)], { stdio: 'ignore' })).toSatisfy(
        (work: () => unknown) => {
          try {
            execFileSync('setpriv', [...others, 'sh', '-c', `cat ${system.at(path)} || ls ${system.at(path)}/`], {
              stdio: 'ignore',
            });
            return false;
          } catch {
            return typeof work === 'function';
          }
        },
      );
    }
  });
});
