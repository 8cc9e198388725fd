import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiRig, apiAlone, type Method } from './api-rig.ts';

let rig: ApiRig;
beforeAll(async () => {
  rig = await apiAlone();
  await rig.ask('POST', '/api/v1/sites', { name: 'dc1' });
});
afterAll(() => rig.close());

const json = { 'content-type': 'application/json' };

/** Every problem has the members of RFC 9457 and ours. */
async function refused(
  method: Method,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const answer = await rig.ask(method, path, body, headers);
  expect(answer.headers['content-type']).toContain('application/problem+json');
  const { code, status, detail } = answer.body;
  expect(answer.body).toMatchObject({
    type: `urn:sitewright:problem:${code}`,
    title: expect.any(String),
    status: answer.status,
    instance: path.split('?')[0],
    message: expect.stringContaining(detail),
    request_id: answer.headers['x-request-id'],
  });
  return { status, code, detail, hint: answer.body.hint, errors: answer.body.errors };
}

describe('bodies', () => {
  it.each([
    ['{"name": "dc2"', 'the body is not JSON'],
    ['{"name": "dc2"]', 'the body is not JSON'],
    ["{'name': 'dc2'}", 'the body is not JSON'],
    ['{"name": "dc2",}', 'the body is not JSON'],
    ['\u0000', 'the body is not JSON'],
    ['{"__proto__": {"name": "dc2"}}', "the body has a key that is not allowed: '__proto__'"],
    ['{"name":"dc2","constructor":{"prototype":1}}', "unknown field 'constructor' in the body"],
    ['{"name":"dc2","\\u005f_proto__":1}', "the body has a key that is not allowed: '__proto__'"],
    ['[]', 'the body must be an object, not a list'],
    ['null', 'the body must be an object, not null'],
    ['"dc2"', "the body must be an object, not the text 'dc2'"],
    ['1e999', 'the body must be an object, not Infinity'],
    ['', 'name is missing in the body'],
  ])('%j is refused: %s', async (body, detail) => {
    const answer = await refused('POST', '/api/v1/sites', body, json);
    expect(answer).toMatchObject({ status: 400, code: 'invalid', detail: expect.stringContaining(detail) });
  });

  it('a mistake in JSON is quoted', async () => {
    const answer = await refused('POST', '/api/v1/sites', '{\n  "name": dc2\n}', json);
    expect(answer.detail).toMatch(/^the body is not JSON: .*dc2/);
  });

  it.each([
    ['{\n  "name": dc2\n}', 2, 11],
    ['{\n  "name": "dc2",,\n}', 2, 17],
    ['{\n  "name": "dc2",\n}', 3, 1],
    ['{\n  "name": "dc2"', 2, 16],
    ['{"name": "ü\u{1f600}" "x"}', 1, 15],
    ['{"name": "d\nc"}', 1, 10],
    ['{"name": ["dc2"}]', 1, 16],
    ['{"name": [1, ]}', 1, 14],
    ['{"name": 01}', 1, 11],
    ['{} {}', 1, 4],
    [`{\n${' '.repeat(500)}"name" "dc2"}`, 2, 508],
  ])('a mistake in JSON has its line and column: %j', async (body, line, column) => {
    const answer = await refused('POST', '/api/v1/sites', body, json);
    expect(answer.errors).toEqual([{ severity: 'error', code: 'request.json', message: answer.detail, line, column }]);
  });

  it('deep bodies are refused before they are parsed; brackets in texts do not count', async () => {
    for (const body of ['['.repeat(2_000_000 / 4), `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`]) {
      const answer = await refused('POST', '/api/v1/sites', body, json);
      expect(answer).toMatchObject({ status: 400, detail: 'the body is nested more than 64 levels deep' });
    }
    const text = { name: 'deep', cluster: `\\"${'['.repeat(150)}` };
    expect(await rig.ask('POST', '/api/v1/sites', text)).toMatchObject({ status: 201, body: text });
  });

  it('bodies of too many values are refused before they are parsed, whatever the size; values in texts do not count', async () => {
    const many = (value: string, times: number) => `{"name":[${`${value},`.repeat(times)}0]}`;
    for (const value of ['0', '[]', '{}']) {
      const answer = await refused('POST', '/api/v1/sites', many(value, 60_000), json);
      expect(answer).toMatchObject({ status: 400, detail: 'the body has more than 50000 JSON values' });
    }
    // Settings and tasks may have more.
    const settings = (times: number) => `{"editable":{"a":{"b":{"type":"x","value":[${'0,'.repeat(times)}0]}}}}`;
    const put = (body: string) => refused('PUT', '/api/v1/clusters/99/attributes', body, json);
    expect(await put(settings(60_000))).toMatchObject({ status: 404 });
    expect(await put(settings(201_000))).toMatchObject({ detail: 'the body has more than 200000 JSON values' });
    const wide = Array.from({ length: 60_000 }, (_, at) => `"k${at}":0`).join(',');
    expect(await put(`{"editable":{${wide}}}`)).toMatchObject({ detail: 'the body has more than 200000 JSON values' });
    const files = [{ name: 'a', text: `# \\"${',[]'.repeat(60_000)}` }];
    expect(await rig.ask('POST', '/api/v1/documents/check', { files })).toMatchObject({ status: 200 });
  });

  it('text that is not UTF-8 is refused, a byte-order mark is not', async () => {
    const latin1 = Buffer.concat([Buffer.from('{"name": "'), Buffer.from([0xe9]), Buffer.from('"}')]);
    expect(await refused('POST', '/api/v1/sites', latin1, json)).toMatchObject({ detail: 'the body is not UTF-8' });
    expect(await rig.ask('POST', '/api/v1/sites', '\uFEFF{"name": "marked"}', json)).toMatchObject({ status: 201 });
  });

  it.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/yaml', 415],
    ['application/jsonx', 415],
    ['', 415],
  ])('a body of type %j is not supported', async (type, status) => {
    const answer = await refused('POST', '/api/v1/sites', '{"name": "dc2"}', type ? { 'content-type': type } : {});
    expect(answer).toMatchObject({ status, code: 'unsupported-media-type', hint: expect.stringContaining('JSON') });
  });

  it('a compressed body is not supported', async () => {
    const answer = await refused('POST', '/api/v1/sites', '{}', { ...json, 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({ status: 415, detail: "a body with Content-Encoding 'gzip' is not supported" });
  });

  it('a large body is refused with its limit; documents may be larger', async () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    expect(await refused('POST', '/api/v1/sites', { name: megabyte })).toMatchObject({
      status: 413,
      code: 'too-large',
      detail: 'the body is larger than 1 MiB',
    });
    const check = await rig.ask('POST', '/api/v1/documents/check', { files: [{ name: 'a', text: `# ${megabyte}` }] });
    expect(check.status).toBe(200);
    const huge = Buffer.alloc(32 * 1024 * 1024 + 1, 'x');
    const answer = await refused('POST', '/api/v1/documents/check', huge, { 'content-type': 'application/yaml' });
    expect(answer).toMatchObject({ status: 413, detail: 'the body is larger than 32 MiB' });
  });

  it('all problems of path, query and body are reported together, with suggestions', async () => {
    const answer = await refused('POST', `/api/v1/sites/${'x'.repeat(1001)}/revisions?forse=1&dry_run=yes`, {
      files: [
        { name: 'a.yaml', txt: '' },
        { name: 'b.yaml', text: 7 },
      ],
      mesage: 'typo',
    });
    expect(answer.status).toBe(400);
    expect(answer.errors).toEqual([
      {
        severity: 'error',
        code: 'request.wrong-value',
        path: 'path.site',
        message: 'site must have at most 1000 characters',
      },
      {
        severity: 'error',
        code: 'request.wrong-value',
        path: 'query.dry_run',
        message: expect.stringContaining("'yes'"),
      },
      {
        severity: 'error',
        code: 'request.unknown-field',
        path: 'query.forse',
        message: "unknown field 'forse' in the query",
        hint: "Did you mean 'force'?",
      },
      expect.objectContaining({ code: 'request.missing-field', path: 'body.files[0].text' }),
      {
        severity: 'error',
        code: 'request.unknown-field',
        path: 'body.files[0].txt',
        message: "unknown field 'txt' in files[0]",
        hint: "Did you mean 'text'?",
      },
      {
        severity: 'error',
        code: 'request.wrong-type',
        path: 'body.files[1].text',
        message: 'files[1].text must be text, not 7',
      },
      expect.objectContaining({ path: 'body.mesage', hint: "Did you mean 'message'?" }),
    ]);
  });
});

describe('paths', () => {
  it.each([
    ['/api/v1/sitess', "Did you mean '/api/v1/sites'?"],
    ['/v1/sites/dc1', '/docs/api shows them'],
    ['/api/v1/sites/dc1/revision', "Did you mean '/api/v1/sites/dc1/revisions' or '/api/v1/sites/dc1/runs'?"],
    ['/api/v1/sites/dc1/node/status', "Did you mean '/api/v1/sites/dc1/nodes/status'?"],
    ['/api/v1/sites/dc1/revisions/latest/startegy', "Did you mean '/api/v1/sites/dc1/revisions/latest/strategy'?"],
    ['/api/v1/nothing/of/the/kind', 'openapi.json'],
  ])('%s is not found', async (path, hint) => {
    const answer = await refused('GET', path, undefined);
    expect(answer).toMatchObject({ status: 404, code: 'not-found', detail: `there is nothing at ${path}` });
    if (!hint.includes(' or ')) expect(answer.hint).toContain(hint);
    else expect(answer.hint).toContain("'/api/v1/sites/dc1/revisions'");
  });

  it('an unsupported method is answered with the supported ones', async () => {
    for (const [method, path, allow] of [
      ['PUT', '/api/v1/sites/dc1', 'DELETE, GET, HEAD, OPTIONS'],
      ['DELETE', '/api/v1/runs', 'GET, HEAD, OPTIONS'],
      ['GET', '/api/v1/documents/check', 'OPTIONS, POST'],
      ['POST', '/health', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const answer = await rig.ask(method, path);
      expect(answer).toMatchObject({ status: 405, headers: { allow }, body: { code: 'method-not-allowed' } });
    }
    expect(await rig.ask('OPTIONS', '/api/v1/sites')).toMatchObject({
      status: 204,
      headers: { allow: expect.any(String) },
    });
  });

  it.each<[string, number]>([
    ['/api/v1/sites/%ff', 400],
    ['/api/v1/sites/%zz', 400],
    ['/api/v1/sites/%', 400],
    ['/api/v1/sites/%00', 400],
    ['/api/v1/sites/..%2f..%2fetc%2fpasswd', 404],
    ['/api/v1/schemas/..%2f..%2fpackage.json', 404],
    ['/api/v1/schemas/__proto__', 404],
    ['/api/v1/schemas/constructor', 404],
    ['/docs/api/static/..%2f..%2f..%2fpackage.json', 404],
    ['/docs/..%2f..%2fpackage.json', 404],
    [`/api/v1/sites/${'x'.repeat(1001)}`, 400],
    [`/api/v1/runs/${'x'.repeat(5000)}`, 400],
    ['/api/v1/sites/%F0%9F%92%A5', 404],
    ['/api/v1/runs/%22;drop%20table%20runs', 404],
    ['/api/v1/sites/dc1/revisions/0', 404],
    ['/api/v1/sites/dc1/revisions/-1', 400],
    ['/api/v1/sites/dc1/revisions/newest', 400],
    ['/api/v1/sites/dc1/revisions/99999999999999999999', 404],
  ])('$0 is answered $1', async (path, status) => {
    expect(await refused('GET', path, undefined)).toMatchObject({ status });
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=ten',
    'limit=1.5',
    'limit=',
    'limit=5&limit=6',
    'limit[]=5',
    'before=nonsense',
    'before=',
    'before=%00',
    'open=maybe',
    'kind=',
    '__proto__=1',
    'constructor=1',
    `before=${Buffer.from('["\\u0000","x"]').toString('base64url')}`,
  ])('the query %s is refused', async (query) => {
    const answer = await refused('GET', `/api/v1/runs?${query}`, undefined);
    expect(answer).toMatchObject({ status: 400, code: 'invalid', detail: expect.stringMatching(/\w/) });
  });
});

it('the header X-Sitewright-User names the actor; a bad name is refused', async () => {
  await rig.ask(
    'POST',
    '/api/v1/sites',
    { name: 'named' },
    { 'x-sitewright-user': Buffer.from('Zoë').toString('latin1') },
  );
  await rig.ask('DELETE', '/api/v1/sites/named');
  const { body } = await rig.ask('GET', '/api/v1/audit?target=site/named');
  expect(body.items).toMatchObject([
    { action: 'site.delete', actor: 'api' },
    { action: 'site.create', actor: 'Zoë' },
  ]);
  const answer = await refused('POST', '/api/v1/sites', { name: 'bad' }, { 'x-sitewright-user': 'x'.repeat(201) });
  expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining('X-Sitewright-User') });
  expect((await rig.ask('GET', '/api/v1/sites/bad')).status).toBe(404);
});

it('a valid request id of the caller is kept', async () => {
  const kept = await rig.ask('GET', '/api/v1/version', undefined, { 'x-request-id': 'ci-17.3' });
  expect(kept.headers['x-request-id']).toBe('ci-17.3');
  const replaced = await rig.ask('GET', '/api/v1/version', undefined, { 'x-request-id': 'a b\tc' });
  expect(replaced.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
});

it('an unexpected error is logged with the request id and answered without internals', async () => {
  const original = rig.store.sites.list;
  Object.assign(rig.store.sites, { list: () => Promise.reject(new Error('secret internals at /home/x')) });
  const answer = await rig.ask('GET', '/api/v1/sites', undefined, { 'x-request-id': 'odd-1' });
  Object.assign(rig.store.sites, { list: original });
  expect(answer).toMatchObject({ status: 500, body: { code: 'unexpected', request_id: 'odd-1' } });
  expect(JSON.stringify(answer.body)).not.toContain('internals at');
  const line = rig.log.find((entry) => entry.msg === 'a request failed unexpectedly');
  expect(line).toMatchObject({ level: 50, request: 'odd-1', err: { message: 'secret internals at /home/x' } });
});

describe('control characters', () => {
  const at = (path: string, character: string) => [
    expect.objectContaining({ path, message: expect.stringContaining(character) }),
  ];

  it.each([
    ['POST', '/api/v1/releases', { name: 'a\u0001b', version: '1', operating_system: 'x' }, 'body.name', 'U+0001'],
    [
      'POST',
      '/api/v1/releases',
      { name: 'a', version: '1', operating_system: 'x', roles_metadata: { 'a\nb': {} } },
      'body.roles_metadata',
      'U+000A',
    ],
    [
      'POST',
      '/api/v1/releases',
      { name: 'a', version: '1', operating_system: 'x', roles_metadata: { a: { name: 'a\u009b' } } },
      'body.roles_metadata.a.name',
      'U+009B',
    ],
    ['POST', '/api/v1/nodes', { name: 'a\u001b[2J' }, 'body.name', 'U+001B'],
    ['POST', '/api/v1/sites', { name: 'dc2', cluster: '\ud800' }, 'body.cluster', 'U+D800'],
    ['POST', '/api/v1/graphs/check/', { name: 'g', tasks: [{ id: 'a\u0000' }] }, 'body.tasks[0].id', 'U+0000'],
    [
      'POST',
      '/api/v1/documents/check',
      { files: [{ name: 'a\u007f.yaml', text: 'a: 1' }] },
      'body.files[0].name',
      'U+007F',
    ],
    ['GET', '/api/v1/sites/a%00b', undefined, 'path.site', 'U+0000'],
    ['GET', '/api/v1/sites/a%0ab', undefined, 'path.site', 'U+000A'],
    ['GET', '/api/v1/runs?site=a%7Fb', undefined, 'query.site', 'U+007F'],
    ['GET', '/api/v1/runs?a%1fb=1', undefined, 'query', 'U+001F'],
  ] as const)('%s %s %j is refused at %s', async (method, path, body, place, character) => {
    const answer = await refused(method, path, body);
    expect(answer).toMatchObject({ status: 400, code: 'invalid', errors: at(place, character) });
  });

  it.each([
    [
      '/api/v1/releases',
      { name: 'a\tb', version: '1', operating_system: 'x' },
      'name must not have control characters',
    ],
    [
      '/api/v1/releases/RELEASE/deployment_graphs/g',
      { name: 'g', tasks: [{ id: 'a\nb', type: 'shell', version: '2.1.0' }] },
      'the id of the task has the control character U+000A',
    ],
    [
      '/api/v1/releases/RELEASE/deployment_graphs/g',
      { name: 'g', tasks: [{ id: 'a', type: 'shell', version: '2.1.0', requires: ['b\n'] }] },
      'a name has the control character U+000A',
    ],
  ])('names have no line ends and tabs either: %s %j', async (path, body, detail) => {
    const release = { name: 'owner', version: '1', operating_system: 'x' };
    await rig.ask('POST', '/api/v1/releases', release);
    const { id } = (await rig.ask('GET', '/api/v1/releases')).body.find(
      (one: { name: string }) => one.name === 'owner',
    );
    const answer = await refused('POST', path.replace('RELEASE', String(id)), body);
    expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining(detail) });
  });

  it('in documents are reported with their places, however they are written', async () => {
    const text = 'a: "x\\0y"\n"k\\e": 1\n';
    const { body } = await rig.ask('POST', '/api/v1/documents/check', text, { 'content-type': 'application/yaml' });
    expect(body.diagnostics.filter(({ code }: { code: string }) => code.startsWith('yaml'))).toMatchObject([
      { code: 'yaml.control-character', line: 1, column: 4, message: 'the value has the control character U+0000' },
      { code: 'yaml.control-character', line: 2, column: 1, message: 'the value has the control character U+001B' },
    ]);
  });

  it('in headers are refused', async () => {
    const answer = await refused('GET', '/api/v1/sites', undefined, { 'x-request-id': 'a\u00c2\u0085b' });
    expect(answer).toMatchObject({ status: 400, detail: 'the header x-request-id has the control character U+0085' });
  });
});

describe('on the wire', () => {
  let port: number;
  beforeAll(async () => {
    await rig.api.listen({ host: '127.0.0.1', port: 0 });
    port = (rig.api.server.address() as { port: number }).port;
  });

  const send = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
      socket.on('error', reject);
    });

  it.each([
    ['garbage\r\n\r\n', 400, 'this is not an HTTP request'],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'the headers are too large'],
    ['GET /api/v1/sites HTTP/1.1\r\n\r\n', 400, ''],
    ['GET / HTTP/1.1\r\nHost: x\r\nExpect: a-pony\r\n\r\n', 417, "the expectation 'a-pony' is not supported"],
  ])('%.20j is answered with a problem', async (text, status, detail) => {
    const answer = await send(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toContain(detail);
    if (detail) expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ status, detail });
  });

  it.each([
    ['announced', 'Content-Length: 1000000000\r\n\r\n{"name"'],
    ['sent in pieces', `Transfer-Encoding: chunked\r\n\r\n180000\r\n${'x'.repeat(0x180000)}\r\n`],
  ])('too large a body, %s, is refused immediately, and the connection closed', async (_how, rest) => {
    const answer = await send(
      `POST /api/v1/sites HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${rest}`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toMatch(/^connection: close/im);
  });

  it('a body shorter than its announced length is refused', async () => {
    const answer = await send(
      'POST /api/v1/sites HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{"name":1}',
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
  });
});
