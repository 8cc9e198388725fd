import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MaasClient } from '../src/client.ts';
import { MaasError, type MaasFailure } from '../src/failure.ts';
import { LeapingClock } from './rig/leaping-clock.ts';
import { testKey } from './rig/maas-process.ts';
import { ScriptedMaas } from './rig/scripted-maas.ts';

const secret = testKey.split(':')[2] ?? '';
let server: ScriptedMaas;
let client: MaasClient;

beforeEach(async () => {
  server = new ScriptedMaas();
  await server.listen();
  client = new MaasClient({ url: server.url, apiKey: testKey });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

async function failureOf(call: Promise<unknown>): Promise<MaasFailure> {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof MaasError)) throw new Error(`no MaasError: ${String(error)}`);
  const everything = `${error.message}\n${error.stack}\n${JSON.stringify(error)}\n${JSON.stringify(error.failure)}`;
  for (const part of testKey.split(':')) expect(everything).not.toContain(part);
  expect(error.cause).toBeUndefined();
  return error.failure;
}

const machine = { system_id: 'abc123', hostname: 'n1', status: 4, owner: null };

describe('requests on the wire', () => {
  it('(1) each attempt has its own nonce, also the quick second one of a read', async () => {
    server.script('drop', { status: 200, body: machine });
    await client.machines.read('abc123');
    const nonces = server.requests.map((r) => /oauth_nonce="(\w+)"/.exec(r.headers.authorization ?? '')?.[1]);
    expect(nonces).toHaveLength(2);
    expect(new Set(nonces).size).toBe(2);
    const stamp = Number(/oauth_timestamp="(\d+)"/.exec(server.requests[1]?.headers.authorization ?? '')?.[1]);
    expect(Math.abs(stamp - Date.now() / 1000)).toBeLessThan(60);
  });

  it('a change leaves in time, or not at all, also if the process is held up once it is on its way', async () => {
    let sendBy: number | undefined;
    const client = new MaasClient({ url: server.url, apiKey: testKey, sendChangesBy: () => sendBy });
    try {
      server.answer = () => ({ status: 200, body: machine });
      sendBy = Date.now() + 60;
      const held = failureOf(client.machines.release('abc123'));
      // It waits for its connection, which the kernel makes meanwhile.
      for (let turn = 0; turn < 50; turn++) await null;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
      expect(await held).toMatchObject({ kind: 'unreachable', outcomeUnknown: false, retryable: true });
      sendBy = Date.now() - 1;
      await failureOf(client.machines.release('abc123'));
      expect(server.requests).toEqual([]);
      // A question about a right changes nothing, though MAAS answers it to a POST.
      expect(await client.mayEditShared()).toBe(true);
      server.requests.length = 0;
      await client.machines.read('abc123');
      sendBy = Date.now() + 60_000;
      await client.machines.release('abc123');
      expect(server.requests).toHaveLength(2);
    } finally {
      await client.close();
    }
  });

  it('a renewed key is used immediately, also where the old one is refused, and its user is read again', async () => {
    let key: string | undefined = testKey;
    const clock = new LeapingClock(Date.now());
    const patient = new MaasClient({ url: server.url, apiKey: testKey, rereadKey: () => key, clock });
    const users = ({ url }: { url: string }) => url.includes('users/');
    const consumers = () =>
      server.requests.map((r) => /oauth_consumer_key="(\w+)"/.exec(r.headers.authorization ?? '')?.[1]);
    const [old] = testKey.split(':');
    try {
      server.answer = (request) => {
        if (users(request)) return { status: 200, body: { username: 'one', is_superuser: true } };
        if (server.requests.length !== 3) return { status: 200, body: machine };
        key = 'renewed:token:secret';
        return { status: 401, body: 'Authorization Error: Invalid API key.' };
      };
      expect(await patient.username()).toBe('one');
      await patient.machines.deploy('abc123');
      expect(consumers()).toEqual([old, old, old, 'renewed']);
      await patient.username();
      await patient.username();
      expect(consumers()).toEqual([old, old, old, 'renewed', 'renewed', 'renewed']);
      // Unreadable, or half written: the last one stays.
      for (const broken of [undefined, 'half:writ']) {
        key = broken;
        await patient.machines.read('abc123');
        expect(consumers().at(-1)).toBe('renewed');
      }
      // The file follows: someone who replaces a key deletes the old one first.
      const refused = { status: 401, body: 'Authorization Error: Invalid API key.' };
      let refusals = 0;
      server.answer = () => {
        if (refusals === 5) return { status: 200, body: machine };
        if (++refusals === 5) key = 'third:token:secret';
        return refused;
      };
      const began = clock.now();
      await patient.machines.deploy('abc123');
      expect(consumers().slice(-6)).toEqual([...Array(5).fill('renewed'), 'third']);
      // Not for ever, and the failure says what was done.
      server.answer = () => refused;
      await expect(patient.machines.deploy('abc123')).rejects.toMatchObject({
        failure: {
          kind: 'unauthorised',
          retryable: false,
          text: expect.stringMatching(/it took before; it was read again for 60 s$/),
        },
      });
      expect(clock.now() - began).toBeLessThan(120_000);
      const sent = server.requests.length;
      await expect(patient.whoami(undefined, { isKeyFinal: true })).rejects.toMatchObject({
        failure: { kind: 'unauthorised' },
      });
      expect(server.requests).toHaveLength(sent + 1);
    } finally {
      await patient.close();
    }
  });

  it('(19) a broken connection is not repeated for a change, and its outcome is unknown', async () => {
    server.script('drop');
    const failure = await failureOf(client.machines.deploy('abc123'));
    expect(failure).toMatchObject({ kind: 'connection-lost', outcomeUnknown: true, retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  it('a read is repeated once, not more', async () => {
    server.script('drop');
    const failure = await failureOf(client.machines.read('abc123'));
    expect(failure).toMatchObject({ kind: 'connection-lost', outcomeUnknown: false });
    expect(server.requests).toHaveLength(2);
  });

  it('an answer that is cut off is a broken connection', async () => {
    server.script('cut');
    expect(await failureOf(client.machines.release('abc123'))).toMatchObject({
      kind: 'connection-lost',
      outcomeUnknown: true,
    });
  });

  it('limits are separate for reads and changes; a change past its limit has an unknown outcome', async () => {
    const hasty = new MaasClient({ url: server.url, apiKey: testKey, readTimeoutMs: 1_000, changeTimeoutMs: 1_500 });
    server.script('hang');
    expect(await failureOf(hasty.machines.read('abc123'))).toMatchObject({
      kind: 'timeout',
      limitMs: 1_000,
      outcomeUnknown: false,
    });
    expect(await failureOf(hasty.machines.deploy('abc123'))).toMatchObject({
      kind: 'timeout',
      limitMs: 1_500,
      outcomeUnknown: true,
    });
    expect(server.requests.map((request) => request.method)).toEqual(['GET', 'POST']);
    await server.close();
    await hasty.close();
    server = new ScriptedMaas();
    await server.listen();
  });

  it('an aborted signal ends a call immediately with its reason', async () => {
    const abort = new AbortController();
    server.answer = () => {
      abort.abort(new Error('enough'));
      return 'hang';
    };
    await expect(client.machines.deploy('abc123', {}, abort.signal)).rejects.toThrow('enough');
  });

  it('no listener: unreachable, nothing sent', async () => {
    const { url } = server;
    await server.close();
    const failure = await failureOf(new MaasClient({ url, apiKey: testKey }).machines.deploy('abc123'));
    expect(failure).toMatchObject({
      kind: 'unreachable',
      code: 'ECONNREFUSED',
      outcomeUnknown: false,
      retryable: true,
    });
    server = new ScriptedMaas();
    await server.listen();
  });

  it('(3) every path ends in a slash, with the operation in the query', async () => {
    server.script({ status: 200, body: machine });
    await client.machines.commission('abc123', { testingScripts: [], skipNetworking: true, enableSsh: false });
    await client.machines.list({ systemIds: ['abc123'] }).catch(() => undefined);
    await client.diagnostics.events({ systemIds: ['abc123'] });
    await client.layouts.interfaces('abc123').catch(() => undefined);
    for (const request of server.requests) expect(request.url.split('?')[0]).toMatch(/^\/MAAS\/api\/2\.0\/.*\/$/);
    expect(server.requests[0]?.url).toBe('/MAAS/api/2.0/machines/abc123/?op=commission');
    expect(server.requests[0]?.body).toBe('enable_ssh=0&skip_networking=1&testing_scripts=none');
  });

  it('a change without fields carries Content-Length: 0 and form encoding', async () => {
    server.script({ status: 200, body: machine });
    await client.machines.markFixed('abc123');
    expect(server.requests[0]?.headers['content-length']).toBe('0');
    expect(server.requests[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(server.requests[0]?.headers['transfer-encoding']).toBeUndefined();
  });

  it('(15) user data is encoded once: the bytes on the node are the bytes given', async () => {
    server.script({ status: 200, body: machine });
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    await client.machines.deploy('abc123', { userData: bytes, distroSeries: 'jammy', hweKernel: 'ga-22.04' });
    await client.machines.deploy('abc123', { userData: '#cloud-config\nname: "Zoë"\n' });
    const [binary, text] = server.requests.map((request) => new URLSearchParams(request.body));
    expect(new Uint8Array(Buffer.from(binary?.get('user_data') ?? '', 'base64'))).toEqual(bytes);
    expect(Buffer.from(text?.get('user_data') ?? '', 'base64').toString('utf8')).toBe('#cloud-config\nname: "Zoë"\n');
    expect(binary?.get('distro_series')).toBe('jammy');
    expect(binary?.get('hwe_kernel')).toBe('ga-22.04');
  });

  it('(25) a false option is not sent, a true one is the word true; nothing erases unasked', async () => {
    server.script({ status: 200, body: machine });
    await client.machines.release('abc123', { erase: false, quickErase: false });
    await client.machines.release('abc123', { erase: true, quickErase: true, secureErase: false });
    expect(server.requests.map((request) => request.body)).toEqual(['', 'erase=true&quick_erase=true']);
  });

  it('a segment cannot leave its path', async () => {
    server.script({ status: 200, body: machine });
    await client.machines.read('a/../b?op=release');
    expect(server.requests[0]?.url).toBe('/MAAS/api/2.0/machines/a%2F..%2Fb%3Fop%3Drelease/');
    await expect(client.machines.read('..')).rejects.toThrow(RangeError);
    await expect(client.machines.read('')).rejects.toThrow(RangeError);
  });
});

describe('answers', () => {
  const read = () => failureOf(client.machines.read('abc123'));

  it('(2, 4) a 401 that prints the secret: typed, final, and the secret is nowhere', async () => {
    const body = `Authorization Error: 'Invalid signature. Expected signature base string: &${secret}'`;
    server.script({
      status: 401,
      body,
      headers: { 'www-authenticate': 'OAuth realm="OAuth"', 'content-type': 'text/html' },
    });
    expect(await read()).toMatchObject({
      kind: 'unauthorised',
      reason: 'wrong-secret',
      retryable: false,
      outcomeUnknown: false,
    });
  });

  it.each([
    ['Authorization Error: Invalid API key.', 'unknown-key'],
    ["Authorization Error: 'Invalid access token: nosuchtoken0000001'", 'unknown-key'],
    ["Authorization Error: 'Missing signature.'", 'wrong-secret'],
    ["Authorization Error: 'Nonce already used: ae4ac7'", 'nonce-replayed'],
    ['something new', 'not-recognised'],
  ])('(4) 401 %j is %s', async (body, reason) => {
    server.script({ status: 401, body });
    expect(await read()).toMatchObject({ kind: 'unauthorised', reason, retryable: reason === 'nonce-replayed' });
  });

  it('(4) a duplicated request is repeated immediately if it is a read; a change may have been executed', async () => {
    server.script(
      { status: 401, body: "Authorization Error: 'Nonce already used: x'" },
      { status: 200, body: machine },
    );
    expect((await client.machines.read('abc123')).systemId).toBe('abc123');
    server.script({ status: 401, body: "Authorization Error: 'Nonce already used: x'" });
    expect(await failureOf(client.machines.deploy('abc123'))).toMatchObject({
      reason: 'nonce-replayed',
      outcomeUnknown: true,
      retryable: true,
    });
    expect(server.requests).toHaveLength(3);
  });

  it('(4) a request that is too old for MAAS is a fault of our clock, not of the key, and passes when the clock is right', async () => {
    // As recorded (01-auth.json).
    const body =
      "Authorization Error: 'Expired timestamp: given 1795263640 and now 1795267240 has a greater difference than threshold 300'";
    server.script({ status: 401, body });
    expect(await read()).toMatchObject({ kind: 'worker-clock', retryable: true, outcomeUnknown: false });
  });

  it.each([
    ['behind', 3_600_000, -3600],
    ['ahead of', -3_600_000, 3600],
  ])(
    '(4) a clock that is %s that of MAAS is detected from the Date header of any answer to a read',
    async (word, ms, skew) => {
      const date = new Date(Date.now() + ms).toUTCString();
      for (const answer of [
        { status: 200, body: machine },
        { status: 401, body: 'whatever it says' },
      ]) {
        server.script({ ...answer, headers: { date } });
        const failure = await read();
        expect(failure).toMatchObject({ kind: 'worker-clock', retryable: true });
        expect(failure.kind === 'worker-clock' && Math.abs((failure.clockSkewSeconds ?? 0) - skew)).toBeLessThan(5);
        expect(failure.text).toMatch(new RegExp(`clock of this machine is 3[56]\\d\\d s ${word} that of MAAS`));
      }
    },
  );

  it('(5) "Unrecognised signature" without an operation is about authentication, with one about the operation', async () => {
    server.script({ status: 400, body: 'Unrecognised signature: method=GET op=None' });
    expect(await read()).toMatchObject({ kind: 'unauthorised', reason: 'not-recognised', retryable: false });
    server.script({ status: 400, body: 'Unrecognised signature: method=POST op=power_cycle' });
    expect(await failureOf(client.machines.abort('abc123'))).toMatchObject({
      kind: 'no-such-endpoint',
      retryable: false,
    });
    server.script({ status: 405 });
    expect(await failureOf(client.machines.abort('abc123'))).toMatchObject({ kind: 'no-such-endpoint', status: 405 });
  });

  it('(6) an empty 403 gets a message and is final', async () => {
    server.script({ status: 403, body: '' });
    const failure = await read();
    expect(failure).toMatchObject({ kind: 'forbidden', retryable: false });
    expect(`${failure.text} ${failure.hint}`).toMatch(/administrator.*owner.*locked/);
  });

  it('(7) no such machine and no such endpoint are two failures', async () => {
    server.script({ status: 404, body: 'No Machine matches the given query.' });
    expect(await read()).toMatchObject({ kind: 'not-found', what: 'Machine' });
    server.script({ status: 404, body: 'Unknown API endpoint: /MAAS/api/2.0/machines/abc123.' });
    expect(await read()).toMatchObject({ kind: 'no-such-endpoint' });
    server.script({
      status: 404,
      body: '<html><body><h1>nginx</h1></body></html>',
      headers: { 'content-type': 'text/html' },
    });
    expect(await read()).toMatchObject({ kind: 'no-such-endpoint', text: 'nginx' });
  });

  it('(8, 18) form errors keep their fields and texts', async () => {
    server.script({
      status: 400,
      body: { distro_series: ["'warty' is not a valid distro_series."], __all__: ['No.'] },
    });
    const failure = await failureOf(client.machines.deploy('abc123'));
    expect(failure).toMatchObject({
      kind: 'invalid',
      retryable: false,
      fields: { distro_series: ["'warty' is not a valid distro_series."], __all__: ['No.'] },
      text: "distro_series: 'warty' is not a valid distro_series.; No.",
    });
    server.script({ status: 400, body: 'Failed to render preseed: boom' });
    expect(await failureOf(client.machines.deploy('abc123'))).toMatchObject({
      kind: 'invalid',
      text: 'Failed to render preseed: boom',
    });
  });

  it('(2) a password that MAAS repeats in a form error is not kept', async () => {
    server.script({ status: 400, body: { power_pass: ["'hunter22' is too short"] } });
    const wanted = { hostname: 'n1', macAddresses: ['52:54:00:00:00:01'], architecture: 'amd64/generic' };
    const failure = await failureOf(client.machines.create({ ...wanted, powerParameters: { power_pass: 'hunter22' } }));
    expect(JSON.stringify(failure)).not.toContain('hunter22');
  });

  it('(20) the two kinds of 409 are distinguished', async () => {
    server.script({
      status: 409,
      body: '<!DOCTYPE html>\n<html><title>Error: Conflict Error</title></html>',
      headers: { 'retry-after': '7' },
    });
    expect(await failureOf(client.machines.deploy('abc123'))).toMatchObject({
      kind: 'conflict-retry',
      retryAfterSeconds: 7,
      retryable: true,
      outcomeUnknown: false,
    });
    server.script({ status: 409, body: "Can't deploy a machine that is in the 'Deploying' state" });
    expect(await failureOf(client.machines.deploy('abc123'))).toMatchObject({
      kind: 'conflict-state',
      retryable: false,
      text: "Can't deploy a machine that is in the 'Deploying' state",
    });
  });

  it.each([
    [503, 'No rack controllers can access the BMC of node lost01', {}, undefined],
    [503, 'Unable to connect to any rack controller', { 'retry-after': '10' }, 10],
    [500, 'Error determining BMC task queue for machine 7m47fn', {}, undefined],
    [502, '<html><h1>Bad Gateway</h1></html>', { 'content-type': 'text/html' }, undefined],
    [504, '<html><h1>Gateway Time-out</h1></html>', { 'content-type': 'text/html' }, undefined],
    [429, 'slow down', { 'retry-after': '3' }, 3],
  ])('(21) %d %j is passing, with its delay when it names one', async (status, body, headers, seconds) => {
    server.script({ status, body, headers });
    const failure = await failureOf(client.machines.deploy('abc123'));
    expect(failure).toMatchObject({ kind: 'unavailable', status, retryable: true, outcomeUnknown: status !== 429 });
    expect(failure.kind === 'unavailable' && failure.retryAfterSeconds).toBe(seconds);
    expect(failure.text).not.toMatch(/[<>]/);
  });

  it('a server that is not MAAS is reported as such', async () => {
    server.script({ status: 200, body: '<html>hello</html>' });
    expect(await read()).toMatchObject({ kind: 'unexpected', retryable: true, hint: expect.stringContaining('URL') });
    server.script({ status: 200, body: { version: 1 } });
    expect(await read()).toMatchObject({ kind: 'unexpected' });
    server.script({ status: 200, body: { not: 'a list' } });
    expect(await failureOf(client.machines.list())).toMatchObject({ kind: 'unexpected' });
    server.script({ status: 302, headers: { location: 'https://elsewhere/' } });
    expect(await read()).toMatchObject({ kind: 'unexpected', retryable: false });
  });

  it.each([
    ['a web page', '<html>the region is starting</html>'],
    ['half an object', '{"system_id": "ab'],
  ])('one garbled answer, %s: a read is sent again, a change has an unknown outcome', async (_name, body) => {
    const good = { status: 200, body: { system_id: 'abc123', hostname: 'n1', status: 4 } } as const;
    server.script({ status: 200, body }, good);
    expect(await client.machines.read('abc123')).toMatchObject({ systemId: 'abc123' });
    expect(server.requests).toHaveLength(2);
    server.script({ status: 200, body }, good);
    expect(await failureOf(client.machines.deploy('abc123'))).toMatchObject({
      kind: 'unexpected',
      retryable: true,
      outcomeUnknown: true,
    });
    expect(server.requests).toHaveLength(3);
  });

  const reads: readonly (readonly [string, (maas: MaasClient) => Promise<unknown>])[] = [
    ['version', (maas) => maas.version()],
    ['whoami', (maas) => maas.whoami()],
    ['a machine', (maas) => maas.machines.read('abc123')],
    ['machines', (maas) => maas.machines.list()],
    ['power', (maas) => maas.machines.queryPower('abc123')],
    ['events', (maas) => maas.diagnostics.events()],
    ['results', (maas) => maas.diagnostics.scriptResults('abc123', 'commissioning')],
    ['images', (maas) => maas.diagnostics.bootResources()],
    ['importing', (maas) => maas.diagnostics.isImporting()],
    ['a setting', (maas) => maas.diagnostics.setting('node_timeout')],
    ['interfaces', (maas) => maas.layouts.interfaces('abc123')],
    ['zones', (maas) => maas.inventory.zones()],
    ['pools', (maas) => maas.inventory.pools()],
    ['tags', (maas) => maas.inventory.tags()],
  ];
  it.each(reads)('no read accepts a garbled answer: %s', async (_name, ask) => {
    for (const body of ['<html>the region is starting</html>', '[{"id": 1', '']) {
      const before = server.requests.length;
      server.script({ status: 200, body }, { status: 200, body });
      expect(await failureOf(ask(client))).toMatchObject({ kind: 'unexpected', retryable: true });
      expect(server.requests.length - before).toBe(2);
    }
  });

  it.each(reads.filter(([name]) => !['importing', 'a setting'].includes(name)))(
    'nor JSON of another shape: %s',
    async (_name, ask) => {
      server.script({ status: 200, body: '"maintenance"' }, { status: 200, body: '"maintenance"' });
      expect(await failureOf(ask(client))).toMatchObject({ kind: 'unexpected', retryable: true });
    },
  );

  it('an outage of MAAS lasts from the first waiting request until any answer', async () => {
    const clock = new LeapingClock();
    const waiting: (() => void)[] = [];
    const silent = new MaasClient({
      url: 'http://maas.test',
      apiKey: testKey,
      clock,
      transport: {
        close: () => Promise.resolve(),
        send: () =>
          new Promise((resolve) => {
            waiting.push(() => resolve({ status: 404, headers: {}, body: 'No Machine matches the given query.' }));
          }),
      },
    });
    expect(silent.silentSince).toBeUndefined();
    const start = clock.now();
    const asked = [silent.machines.read('a'), silent.machines.read('b')].map((one) => one.catch(() => undefined));
    await clock.sleep(40_000);
    expect(silent.silentSince).toBe(start);
    waiting[0]?.();
    await asked[0];
    // The other one still waits, though MAAS has spoken.
    expect(silent.silentSince).toBe(clock.now());
    waiting[1]?.();
    await asked[1];
    expect(silent.silentSince).toBeUndefined();
  });

  it.each([
    [502, '<html><h1>502 Bad Gateway</h1></html>', true],
    [503, 'Service Unavailable', true],
    [504, '', true],
    [429, 'Too many requests', true],
    [302, '', true],
    [200, '<!doctype html><title>Sign in</title>', true],
    [200, 'welcome', true],
    [404, '<html><h1>404 Not Found</h1></html>', true],
    [403, '<html>This site is blocked</html>', true],
    [404, 'No Machine matches the given query.', false],
    [403, '', false],
    [409, '<!DOCTYPE html><title>Conflict</title>', false],
    [500, 'list index out of range', false],
    [200, '{"system_id": "abc123"}', false],
  ])('an answer of %s %j keeps a silence going: %s', async (status, body, isSilent) => {
    const clock = new LeapingClock();
    const silent = new MaasClient({
      url: 'http://maas.test',
      apiKey: testKey,
      clock,
      transport: { close: () => Promise.resolve(), send: () => Promise.resolve({ status, headers: {}, body }) },
    });
    const start = clock.now();
    for (let n = 0; n < 3; n++) {
      await silent.machines.read('a').catch(() => undefined);
      await clock.sleep(10_000);
    }
    expect(silent.silentSince).toBe(isSilent ? start : undefined);
    expect(silent.lastAnswerAt === undefined).toBe(isSilent);
  });

  it('a change that its caller gave up on its way is known, and a reading or one that never left is not', async () => {
    const ends = [1, 2, 3].map(() => new AbortController());
    const [change, reading, waiting] = ends as [AbortController, AbortController, AbortController];
    const client = new MaasClient({
      url: 'http://maas.test',
      apiKey: testKey,
      concurrency: 1,
      transport: {
        close: () => Promise.resolve(),
        send: ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason as Error));
          }),
      },
    });
    const asked = [
      client.machines.deploy('a', {}, change.signal),
      client.machines.read('a', reading.signal),
      client.machines.deploy('b', {}, waiting.signal),
    ].map((one) => one.catch(() => undefined));
    for (const end of [waiting, change, reading]) end.abort();
    await Promise.all(asked);
    expect(ends.map(({ signal }) => client.givenUp(signal))).toEqual([
      'POST machines/a/?op=deploy',
      undefined,
      undefined,
    ]);
  });

  it('(29) unknown states, missing and odd fields are tolerated', async () => {
    server.script({
      status: 200,
      body: {
        system_id: 'abc123',
        status: 42,
        owner: { username: 'x' },
        ip_addresses: null,
        zone: 'az1',
        new_field: {},
        owner_data: [],
      },
    });
    const found = await client.machines.read('abc123');
    expect(found).toMatchObject({
      status: 42,
      statusName: 'status 42',
      owner: 'x',
      zone: 'az1',
      ipAddresses: [],
      annotations: {},
    });
    server.script({ status: 200, body: { system_id: 'abc123' } });
    expect((await client.machines.read('abc123')).status).toBe(-1);
  });

  it('an empty body of success is not an error (DELETE 204), and a deleted machine stays deleted', async () => {
    server.script({ status: 204 }, { status: 404, body: 'No Machine matches the given query.' });
    await client.machines.delete('abc123');
    await client.machines.delete('abc123');
    expect(server.requests).toHaveLength(2);
  });
});
