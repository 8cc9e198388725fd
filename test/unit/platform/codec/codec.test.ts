import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultPayloadConverter, type Payload, type SerializationContext } from '@temporalio/common';
import { afterAll, describe, expect, it } from 'vitest';
import { createCodecEndpoint } from '../../../../src/platform/codec/codec-endpoint.ts';
import { codecOf, encryptedData } from '../../../../src/platform/codec/encrypted-data.ts';
import { EncryptionCodec, payloadFromBytes, payloadToBytes } from '../../../../src/platform/codec/encryption-codec.ts';
import {
  addEncryptionKey,
  parseEncryptionKeys,
  readEncryptionKeys,
} from '../../../../src/platform/codec/encryption-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-codec-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'keys');
const first = addEncryptionKey(path);
const codec = new EncryptionCodec(readEncryptionKeys(path));
const converter = new DefaultPayloadConverter();
const payload = (value: unknown): Payload => converter.toPayload(value)!;
const CANARY = 'CANARY-codec';

describe('the codec', () => {
  it.each([[{ canary: CANARY }], [''], [null], ['ä'.repeat(100_000)], [new Uint8Array([0, 255])], [[1, 2]]])(
    'hides and gives back %#',
    async (value) => {
      const [hidden] = await codec.encode([payload(value)]);
      expect(Buffer.from(hidden!.data!).toString('latin1')).not.toContain('CANARY');
      expect(Object.keys(hidden!.metadata!).sort()).toEqual(['encoding', 'encryption-key-id', 'encryption-place']);
      const [shown] = await codec.decode([hidden!]);
      expect(converter.fromPayload(shown!)).toEqual(value);
    },
  );

  it('never encrypts equal data alike, and passes unencrypted data through', async () => {
    const [one, two] = await codec.encode([payload('x'), payload('x')]);
    expect(Buffer.from(one!.data!).equals(Buffer.from(two!.data!))).toBe(false);
    expect(await codec.decode([payload('plain')])).toEqual([payload('plain')]);
    expect(await codec.decode([{}])).toEqual([{}]);
  });

  it('notices every changed byte', async () => {
    const [hidden] = await codec.encode([payload({ canary: CANARY })]);
    const data = Buffer.from(hidden!.data!);
    for (let at = 0; at < data.length; at += 3) {
      const changed = Buffer.from(data);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(codec.decode([{ ...hidden!, data: changed }])).rejects.toThrow('was changed');
    }
    for (const length of [0, 5, 12, 27])
      await expect(codec.decode([{ ...hidden!, data: data.subarray(0, length) }])).rejects.toThrow('was changed');
  });

  it('reads with the key that was used, writes with the newest', async () => {
    const [old] = await codec.encode([payload(1)]);
    const second = addEncryptionKey(path);
    const rotated = new EncryptionCodec(readEncryptionKeys(path));
    const [shown] = await rotated.decode([old!]);
    expect(converter.fromPayload(shown!)).toBe(1);
    const [fresh] = await rotated.encode([payload(2)]);
    expect(Buffer.from(fresh!.metadata!['encryption-key-id']!).toString()).toBe(second);
    await expect(codec.decode([fresh!])).rejects.toThrow(`the key ${second}, which is not in the key file`);
    expect(second).not.toBe(first);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('finds a key that was added after its start, and keeps writing with its own', async () => {
    const file = join(folder, 'rotated');
    const former = addEncryptionKey(file);
    const running = codecOf(file);
    const keyOf = ({ metadata }: Payload) => Buffer.from(metadata!['encryption-key-id']!).toString();
    const [unknown] = await codec.encode([payload(0)]);
    await expect(running.decode([unknown!])).rejects.toThrow('which is not in the key file');

    addEncryptionKey(file);
    const [fresh] = await codecOf(file).encode([payload(1)]);
    const whole = readFileSync(file, 'utf8');
    // While the file is copied, it is cut.
    writeFileSync(file, whole.slice(0, 20));
    await expect(running.decode([fresh!])).rejects.toThrow('which is not in the key file');
    writeFileSync(file, whole);
    expect(converter.fromPayload((await running.decode([fresh!]))[0]!)).toBe(1);
    const [own] = await running.encode([payload(2)]);
    expect(keyOf(own!)).toBe(former);

    // The former key is removed from the file.
    writeFileSync(file, `${whole.split('\n')[0]}\n`);
    expect(converter.fromPayload((await running.decode([own!]))[0]!)).toBe(2);
    await expect(codecOf(file).decode([own!])).rejects.toThrow(`the key ${former}, which is not in the key file`);
  });

  it('reads its keys from a valid file only', () => {
    const key = Buffer.alloc(32, 1).toString('base64');
    expect(parseEncryptionKeys(`# two\n\nb ${key}\na ${key}\n`, 'f').current).toBe('b');
    for (const [text, problem] of [
      ['', 'f contains no key'],
      ['a', 'f:1: a line is'],
      [`# x\na ${key.slice(4)}`, 'f:2: a line is'],
      [`a ${key}\na ${key}`, 'f:2: there is a key a already'],
    ] as const)
      expect(() => parseEncryptionKeys(text, 'f')).toThrow(problem);
    expect(() => readEncryptionKeys(join(folder, 'none'))).toThrow('create it with');
    writeFileSync(join(folder, 'open'), `a ${key}\n`, { mode: 0o644 });
    expect(() => readEncryptionKeys(join(folder, 'open'))).toThrow('may be read by others');
    expect(encryptedData(undefined)).toBeUndefined();
  });

  it('writes payloads as Temporal does', async () => {
    const { temporal } = (await import('@temporalio/proto' as string)) as typeof import('@temporalio/proto');
    const sample = { metadata: { encoding: Buffer.from('json/plain'), '': Buffer.from([0]) }, data: Buffer.from('{}') };
    const theirs = temporal.api.common.v1.Payload.encode(sample).finish();
    expect(Buffer.from(payloadToBytes(sample)).equals(Buffer.from(theirs))).toBe(true);
    expect(payloadFromBytes(theirs)).toEqual(sample);
  });

  it('hides the messages of failures, too', async () => {
    const { failureConverter } = await import('../../../../src/platform/codec/encoded-failures.ts');
    const failure = failureConverter.errorToFailure(new Error(CANARY), converter);
    expect(failure.message).toBe('Encoded failure');
    const [hidden] = await codec.encode([failure.encodedAttributes!]);
    expect(JSON.stringify({ ...failure, encodedAttributes: hidden })).not.toContain(CANARY);
    expect(Buffer.from(hidden!.data!).toString('latin1')).not.toContain(CANARY);
    const [shown] = await codec.decode([hidden!]);
    const back = failureConverter.failureToError({ ...failure, encodedAttributes: shown! }, converter);
    expect(back.message).toBe(CANARY);
  });
});

describe('data of a key that binds', () => {
  const workflow = (workflowId: string, namespace = 'default') =>
    ({ type: 'workflow', namespace, workflowId }) as const;
  const activity = (workflowId: string, activityId: string) =>
    ({ type: 'activity', namespace: 'default', workflowId, activityId, isLocal: false }) as const;
  const seal = async (context?: SerializationContext) => (await codec.encode([payload('x')], context))[0]!;
  const opens = (sealed: Payload, context?: SerializationContext) =>
    codec.decode([sealed], context).then(([shown]) => converter.fromPayload(shown!) === 'x');

  it.each([
    ['the same workflow', workflow('a'), workflow('a')],
    ['the same activity', activity('a', 't@1'), activity('a', 't@1')],
    ['a run of its schedule', workflow('a'), workflow('a-2026-11-28T09:00:00Z')],
    ['a place that its writer did not know', undefined, activity('a', 't@1')],
    ['a reader that does not know the place', activity('a', 't@1'), undefined],
  ])('is read in %s', async (_, written, read) => {
    expect(await opens(await seal(written), read)).toBe(true);
  });

  it.each([
    ['another workflow', workflow('a'), workflow('b')],
    ['another namespace', workflow('a'), workflow('a', 'other')],
    ['another activity', activity('a', 't@1'), activity('a', 't@2')],
    ['an activity of another workflow', activity('a', 't@1'), activity('b', 't@1')],
    ['its workflow itself', activity('a', 't@1'), workflow('a')],
    ['a workflow whose id is not that of a schedule', workflow('a'), workflow('a-1')],
  ])('is refused in %s', async (_, written, read) => {
    await expect(opens(await seal(written), read)).rejects.toThrow('another place');
  });

  it('has no other place, and no other key, because its metadata says so', async () => {
    const sealed = await seal(workflow('a'));
    const { 'encryption-place': _, ...none } = sealed.metadata!;
    const bytes = (text: string) => Buffer.from(text);
    for (const metadata of [
      none,
      { ...none, 'encryption-place': bytes('[]') },
      { ...none, 'encryption-place': bytes(JSON.stringify(['default', 'b'])) },
    ])
      for (const here of [workflow('b'), undefined])
        await expect(opens({ ...sealed, metadata }, here)).rejects.toThrow('was changed');
    // Under the name of a former key, which does not bind.
    const keys = readEncryptionKeys(path);
    const both = new EncryptionCodec({
      ...keys,
      keys: new Map([...keys.keys, ['former', keys.keys.get(keys.current)!]]),
    });
    await expect(
      both.decode([{ ...sealed, metadata: { ...none, 'encryption-key-id': bytes('former') } }]),
    ).rejects.toThrow('was changed');
  });

  it('is read beside that of former keys, which do not bind', async () => {
    const former = { current: 'former', keys: new Map([['former', Buffer.alloc(32, 7)]]) };
    const [old] = await new EncryptionCodec(former).encode([payload('x')], workflow('a'));
    expect(Object.keys(old!.metadata!).sort()).toEqual(['encoding', 'encryption-key-id']);
    const keys = readEncryptionKeys(path);
    const both = new EncryptionCodec({ ...keys, keys: new Map([...keys.keys, ...former.keys]) });
    expect(converter.fromPayload((await both.decode([old!], workflow('b')))[0]!)).toBe('x');
  });

  it('is shown by the endpoint in its namespace, and what that encodes is for all of it', async () => {
    const endpoint = createCodecEndpoint(codec, 'http://ui.example');
    const asked = async (direction: string, sealed: Payload, namespace?: string) => {
      const answer = await endpoint.inject({
        method: 'POST',
        url: `/codec/${direction}`,
        headers: namespace === undefined ? {} : { 'x-namespace': namespace },
        payload: { payloads: [json(sealed)] },
      });
      return { status: answer.statusCode, payloads: answer.json<{ payloads: ReturnType<typeof json>[] }>().payloads };
    };
    const sealed = await seal(activity('a', 't@1'));
    for (const namespace of ['default', undefined])
      expect(await asked('decode', sealed, namespace)).toEqual({ status: 200, payloads: [json(payload('x'))] });
    expect(await asked('decode', sealed, 'other')).toMatchObject({ status: 400 });
    const [typed] = (await asked('encode', payload('x'), 'default')).payloads;
    const own = { metadata: mapped(typed!.metadata), data: Buffer.from(typed!.data, 'base64') };
    expect(await opens(own, workflow('a'))).toBe(true);
    await expect(opens(own, workflow('a', 'other'))).rejects.toThrow('another place');
  });
});

const json = (value: Payload) => ({
  metadata: Object.fromEntries(Object.entries(value.metadata!).map(([k, v]) => [k, Buffer.from(v).toString('base64')])),
  data: Buffer.from(value.data!).toString('base64'),
});
const mapped = (metadata: Record<string, string>) =>
  Object.fromEntries(Object.entries(metadata).map(([k, v]) => [k, Buffer.from(v, 'base64')]));

describe('the codec endpoint', () => {
  const origin = 'http://ui.example:8233';
  const endpoint = createCodecEndpoint(codec, `${origin}/some/path`);

  it('decodes for the page of the Web UI, and back', async () => {
    const [hidden] = await codec.encode([payload({ a: 1 })]);
    const request = { method: 'POST', url: '/codec/decode', headers: { origin, 'x-namespace': 'default' } } as const;
    const answer = await endpoint.inject({
      ...request,
      payload: { payloads: [json(hidden!), json(payload('plain'))] },
    });
    expect(answer.json()).toEqual({ payloads: [json(payload({ a: 1 })), json(payload('plain'))] });
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    const encoded = await endpoint.inject({
      method: 'POST',
      url: '/codec/encode',
      payload: { payloads: [json(payload(7))] },
    });
    const { payloads } = encoded.json<{ payloads: ReturnType<typeof json>[] }>();
    expect((await endpoint.inject({ ...request, payload: { payloads } })).json()).toEqual({
      payloads: [json(payload(7))],
    });
  });

  it('authenticates before it reads a body, if required', async () => {
    const asked: unknown[] = [];
    const guarded = createCodecEndpoint(codec, origin, async ({ authorization }, direction) => {
      asked.push(direction);
      if (authorization === 'Bearer good') return undefined;
      return { status: authorization === undefined ? 401 : 403, message: 'no', hint: 'log in' };
    });
    const decode = (headers: Record<string, string>) =>
      guarded.inject({
        method: 'POST',
        url: '/codec/decode',
        headers: { origin, ...headers },
        payload: { payloads: [] },
      });
    const refused = await decode({});
    expect(refused.statusCode).toBe(401);
    expect(refused.headers).toMatchObject({
      'www-authenticate': 'Bearer realm="sitewright"',
      'access-control-allow-origin': origin,
    });
    expect(refused.json()).toEqual({ message: 'no', hint: 'log in' });
    expect((await decode({ authorization: 'Bearer bad' })).statusCode).toBe(403);
    expect((await decode({ authorization: 'Bearer good' })).statusCode).toBe(200);
    expect(asked).toEqual(['decode', 'decode', 'decode']);
    // A browser sends this request without credentials.
    const preflight = await guarded.inject({ method: 'OPTIONS', url: '/codec/decode', headers: { origin } });
    expect(preflight.statusCode).toBe(204);
  });

  it('answers the preflight request of a browser, and no other origin', async () => {
    const asked = await endpoint.inject({ method: 'OPTIONS', url: '/codec/decode', headers: { origin } });
    expect(asked.statusCode).toBe(204);
    expect(asked.headers['access-control-allow-headers']).toContain('x-namespace');
    const evil = { origin: 'http://evil.example' };
    for (const method of ['OPTIONS', 'POST'] as const) {
      const answer = await endpoint.inject({
        method,
        url: '/codec/decode',
        headers: evil,
        ...(method === 'POST' ? { payload: { payloads: [] } } : {}),
      });
      expect(answer.statusCode).toBe(403);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it.each([
    [null],
    [{}],
    [{ payloads: 1 }],
    [{ payloads: [{ data: '%' }] }],
    [{ payloads: [{ metadata: { encoding: 'YmluYXJ5L2VuY3J5cHRlZA==' }, data: 'AA==' }] }],
  ])('refuses %j', async (body) => {
    const answer = await endpoint.inject({
      method: 'POST',
      url: '/codec/decode',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ message: expect.any(String) });
  });
});
