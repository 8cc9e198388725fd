import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCookie, SIGN_IN_COOKIE, TOKEN_COOKIE } from '../../../src/api/access/cookies.ts';
import { formatCsv } from '../../../src/cli/shell/output.ts';
import { checkParameters } from '../../../src/core/task-types/index.ts';
import { auditedAlarms } from '../../../src/gateway/index.ts';
import { signedIn } from '../../../src/ops/sign-in.ts';
import { TokenOperations } from '../../../src/ops/tokens.ts';
import { createLogger, withoutSecretTexts } from '../../../src/platform/telemetry/log.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { webLink } from '../../../src/ui/kit/web-link.ts';
import { type ApiRig, apiAlone } from '../../api/api-rig.ts';
import { growthOf, MUCH_GROWTH } from '../../rig/growth.ts';
import { cli } from '../cli/recording-terminal.ts';
import { stubApi } from '../cli/stub-api.ts';

// Foreign text, on its way into a terminal, a log, a table, a command or a page.

const CLEAR = '\u001b[2J\u001b]0;pwned\u0007\u009b31m';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-texts-'));
let store: Store;
beforeAll(async () => {
  store = await openStore('sqlite::memory:');
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const ESCAPES = /(?![\t\n])\p{Cc}/u;

describe('logs', () => {
  const logged = (format: 'json' | 'pretty') => {
    const lines: string[] = [];
    return { log: createLogger({ level: 'trace', format }, 'test', (line) => lines.push(line)), lines };
  };

  it.each([
    ['a', (n: number) => `/${'a'.repeat(n)}`],
    ['a.', (n: number) => 'a.'.repeat(n / 2)],
    ['a://', (n: number) => 'a://'.repeat(n / 4)],
    ['a://b:', (n: number) => 'a://b:'.repeat(n / 6)],
    ['://:', (n: number) => `a://${':'.repeat(n)}`],
    ['bearer', (n: number) => 'bearer '.repeat(n / 7)],
    ['blanks', (n: number) => `bearer${' '.repeat(n)}`],
    ['oauth_token=', (n: number) => 'oauth_token='.repeat(n / 12)],
  ])('redaction takes time in proportion to the line: %s', (_name, text) => {
    expect(growthOf(withoutSecretTexts, text)).toBeLessThan(MUCH_GROWTH);
  });

  it('foreign text never adds a line, nor reaches the terminal unescaped', async () => {
    const forged = `x\n12:00:00 info  api  an admin signed in${CLEAR}`;
    const { log, lines } = logged('pretty');
    await auditedAlarms(store.audit, log)({ site: 'dc1', node: 'n1', kind: 'odd', message: forged });
    log.warn({ site: forged, deep: { er: forged }, err: new Error(forged) }, forged);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line.split('\n')).toHaveLength(2);
      expect(line.trimEnd()).not.toMatch(ESCAPES);
    }
    const [entry] = (await store.audit.list({ action: 'agent.alarm', limit: 1 })).items;
    expect(entry!.reason).not.toMatch(/[\p{Cc}]/u);
  });
});

describe('an anonymous request with a long path', () => {
  let rig: ApiRig;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = createLogger({ level: 'debug', format: 'json' }, 'api', (line) => lines.push(line));
    rig = await apiAlone({ log } as never);
  });
  afterAll(() => rig.close());

  it('is logged briefly', async () => {
    await rig.api.listen({ host: '127.0.0.1', port: 0 });
    const { port } = rig.api.server.address() as { port: number };
    const long = `/${'a'.repeat(15_000)}?${'b'.repeat(300)}`;
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`GET ${long} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`),
      );
      socket.pipe(new Writable({ write: (piece, _encoding, done) => done(void (text += String(piece))) }));
      socket.on('close', () => resolve(text)).on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 404/);
    const about = lines.filter((line) => line.includes('aaaa'));
    expect(about.length).toBeGreaterThan(0);
    for (const line of about) expect(line.length).toBeLessThan(1_500);
  });
});

describe('the terminal of an operator', () => {
  it('gets no control characters from a node, whichever command shows its output', async () => {
    const output = `a${CLEAR}b\r\nprogress 1%\rprogress 2%\n`;
    const event = (name: string, id: number, data: object) =>
      `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
    const stream = [
      event('output', 40, { stream: 'stdout', offset: 0, text: output }),
      event('ended', 41, { outcome: 'failed', message: `exit ${CLEAR}` }),
    ].join('');
    const line = { at: '2026-01-01T00:00:00.000Z', task: 't', node: 'n', attempt: 1, stream: 'stdout', text: CLEAR };
    const lines = { items: [line, { ...line, stream: 'ended' }], earlier: null, later: 'x' };
    const api = await stubApi(({ at }) => [200, at.startsWith('/runs/7/nodes/n/tasks/t/log') ? stream : lines]);
    const env = { SITEWRIGHT_API: api.url };
    for (const args of [
      ['run', 'logs', '7', 't@n'],
      ['run', 'logs', '7'],
    ]) {
      const said = await cli(args, { env, columns: 80 });
      expect(said.out).toContain('pwned');
      expect(`${said.out}${said.err}`).not.toMatch(ESCAPES);
    }
    // A file receives the task's output; messages are ours.
    const piped = await cli(['run', 'logs', '7', 't@n'], { env });
    expect(piped.out).toBe(output);
    expect(piped.err).not.toMatch(ESCAPES);
    await api.close();
  });

  it.each(['=1+2', '+1+2', '-cmd', '@SUM(A1)', '\t=1', '\r=1', ' =1', '＝1', '"=1'])(
    'a cell of CSV is never a formula: %j',
    (text) => {
      const [, row] = formatCsv([{ a: text }], ['a']).split('\r\n');
      expect(row).toMatch(/^"?'/);
    },
  );

  it('numbers, names and several lines stay as they are in CSV', () => {
    const rows = [{ a: '-5', b: -5, c: 'a=b', d: '1.5', e: 'x\ny', f: CLEAR }];
    expect(formatCsv(rows, ['a', 'b', 'c', 'd', 'e'])).toBe('a,b,c,d,e\r\n-5,-5,a=b,1.5,"x\ny"\r\n');
    expect(formatCsv(rows, ['f']).trimEnd()).not.toMatch(/(?![\r\n])\p{Cc}/u);
  });
});

describe('names', () => {
  const rules = {
    nameClaim: 'name',
    rolesClaim: 'groups',
    unstatedAddress: 'refuse' as const,
    values: { viewer: ['v'], operator: [], admin: [] },
  };
  const claims = { iss: 'https://login.example', sub: '1', groups: ['v'] };
  const getsIn = (more: object): boolean => {
    try {
      return signedIn({ ...claims, ...more }, rules).role === 'viewer';
    } catch {
      return false;
    }
  };

  it('an unverified address is not used as a name, whatever claim it is in', () => {
    for (const verified of [undefined, false, 'false', 'FALSE', 0, null, 'no', '', {}])
      for (const [claim, value] of [
        ['email', 'nina@example.org'],
        ['name', 'nina@example.org'],
      ] as const)
        expect([verified, getsIn({ name: value, [claim]: value, email: value, email_verified: verified })]).toEqual([
          verified,
          false,
        ]);
    for (const verified of [true, 'true'])
      expect(getsIn({ name: 'nina@example.org', email: 'nina@example.org', email_verified: verified })).toBe(true);
    expect(getsIn({ name: 'nina' })).toBe(true);
  });

  it.each(['webhook', 'Webhook', 'sitewright', 'temporal', 'api', 'unknown', 'schedule', 'anonymous'])(
    'no user can have the name of a part of the service: %s',
    async (name) => {
      expect(getsIn({ name })).toBe(false);
      const tokens = new TokenOperations({ store } as never);
      await expect(tokens.create({ name: name.toLowerCase(), role: 'viewer' }, 'nina')).rejects.toMatchObject({
        problem: { code: 'invalid' },
      });
    },
  );

  it('over TLS a cookie needs the prefix that only this host can set over TLS', () => {
    for (const cookie of [TOKEN_COOKIE, SIGN_IN_COOKIE]) {
      const plain = { cookie: `${cookie.name}=planted` };
      const both = { cookie: `${cookie.name}=planted; __Host-${cookie.name}=ours` };
      expect(readCookie(plain, cookie, { secure: true })).toBeUndefined();
      expect(readCookie(both, cookie, { secure: true })).toBe('ours');
      expect(readCookie(plain, cookie, { secure: false })).toBe('planted');
    }
  });

  it.each(['-e@h::x', '-oProxyCommand=x:/a', '-h::x', '-u@h:/a', 'u@-h:/a', '-rsync://h/m/p', '--rsh=x::y'])(
    'a source of sync is never an option: %s',
    (src) => {
      expect(checkParameters('sync', { src, dst: '/srv/x' }).map(({ path }) => path)).toEqual([['src']]);
    },
  );

  it.each(['u-x@h::x', 'a-b:/x', 'rsync://h-1/m/p', 'rsync://[::1]/m/p', 'rsync://u@h:873/m/p', '/x'])(
    'a valid source is accepted: %s',
    (src) => expect(checkParameters('sync', { src, dst: '/srv/x' })).toEqual([]),
  );

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:x',
    'data:text/html,x',
    'vbscript:x',
    '//h',
    'h',
    '',
  ])('the page links to web addresses only: %j', (address) => expect(webLink(address)).toBeUndefined());
});

describe('the store', () => {
  it('is private to this user, also in a readable folder, whatever the umask', async () => {
    const open = join(folder, 'open');
    mkdirSync(open, { mode: 0o755 });
    const before = process.umask(0o022);
    try {
      const made = await openStore(`sqlite:${join(open, 'store.db')}`);
      await made.audit.append({ actor: 'a', action: 'b', target: 'c' });
      for (const name of readdirSync(open)) expect([name, statSync(join(open, name)).mode & 0o077]).toEqual([name, 0]);
      expect(readdirSync(open).length).toBeGreaterThan(1);
      await made.close();
      // A file that others may read is closed to them when it is opened.
      execFileSync('chmod', ['644', join(open, 'store.db')]);
      await (await openStore(`sqlite:${join(open, 'store.db')}`)).close();
      expect(statSync(join(open, 'store.db')).mode & 0o077).toBe(0);
    } finally {
      process.umask(before);
    }
  });
});
