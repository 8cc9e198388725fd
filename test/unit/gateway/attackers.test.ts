import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCertificateRequest } from '../../../src/gateway/identity/certificate-request.ts';
import { newKeyPair, privateKeyPem } from '../../../src/gateway/identity/key-pair.ts';
import { GatewayConnection, GatewayRefused } from '../../../src/gateway/index.ts';
import { nodeFiles, ownCredentials } from '../../../worker/parts/own-credentials.ts';
import { GatewayRig } from './gateway-rig.ts';

// Attacks with stolen credentials, or with none: each request is written by hand, as no client of ours
// would send it.

let rig: GatewayRig;
let hours = 0;
beforeAll(async () => {
  rig = await new GatewayRig().start();
});
beforeEach(async () => {
  await rig.begin();
  // An address that tried too often waits for a minute.
  rig.now = new Date(Date.now() - 3_600_000 * ++hours);
});
afterAll(() => rig.tidy());

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof GatewayRefused ? error.code : `other: ${String(error)}`),
  );

interface Identity {
  readonly key: string;
  readonly certificate: string;
}

/** Sends bytes over TLS and returns the first line and the body of the answer. */
async function raw(body: string, path = '/v1/enrol', identity?: Identity): Promise<{ status: number; body: string }> {
  const { port } = new URL(rig.url);
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened = connect(
      {
        port: Number(port),
        host: '127.0.0.1',
        rejectUnauthorized: false,
        ...(identity === undefined ? {} : { key: identity.key, cert: identity.certificate }),
      },
      () => resolve(opened),
    );
    opened.on('error', reject);
  });
  const head = `POST ${path} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  const answer = Buffer.concat(pieces).toString('utf8');
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]),
    body: answer.slice(answer.indexOf('\r\n\r\n') + 4),
  };
}

const enrolment = (token: string, request: string) => JSON.stringify({ token, request });

function someRequest(): { readonly key: string; readonly request: string } {
  const pair = newKeyPair();
  return { key: privateKeyPem(pair.privateKey), request: createCertificateRequest(pair, 'thief') };
}

describe('without a token', () => {
  it('a request for a certificate is not even read', async () => {
    // The search for the end was cubic: 7,900 blanks had not ended after six minutes.
    const blanks = `-----BEGIN CERTIFICATE REQUEST-----${' '.repeat(7_900)}`;
    const answer = await raw(enrolment('swt_guess', blanks));
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.body).toContain('token-unknown');
    expect(await raw(enrolment('swt_guess', someRequest().request))).toMatchObject({ status: 403 });
  });

  it('an address that retries too often has to wait, and no other', async () => {
    const codes = new Set<number>();
    for (let i = 0; i < 40; i++) codes.add((await raw(enrolment(`swt_guess${i}`, 'x'))).status);
    expect([...codes].sort()).toEqual([403, 429]);
    // A node with its certificate does not count as guessing.
    rig.now = new Date(rig.now.getTime() + 61_000);
    const node = await rig.node('dc1', 'n1');
    for (let i = 0; i < 40; i++) await raw(enrolment(`swt_again${i}`, 'x'));
    expect(await codeOf(new GatewayConnection(...addressed(node.credentials)).bytes('/v1/order-keys'))).toBe('ok');
  });
});

const addressed = ({ key, certificate }: Identity) =>
  [
    { url: rig.url, authority: rig.authority.certificate },
    { key, certificate },
  ] as const;

describe('with the token and the key of a node that was revoked', () => {
  it.each(['revoked', 'replaced by another machine'])(
    '%s: it does not return, and the attempt is recorded',
    async (how) => {
      const { token } = await rig.ticket('dc1', 'n1');
      const { request } = someRequest();
      expect(await raw(enrolment(token, request))).toMatchObject({ status: 200 });
      // The first answer may have been lost.
      expect(await raw(enrolment(token, request))).toMatchObject({ status: 200 });
      if (how === 'revoked')
        await rig.store.nodeIdentities.revoke({ site: 'dc1', node: 'n1', at: rig.now.toISOString(), reason: 'stolen' });
      else await rig.node('dc1', 'n1');
      const again = await raw(enrolment(token, request));
      expect(again.status).toBe(403);
      expect(again.body).not.toContain('BEGIN CERTIFICATE');
      expect(await rig.alarms()).toEqual(['dc1/n1 revoked-token']);
      const valid = (await rig.store.nodeIdentities.listCertificates('dc1', 'n1')).filter(
        (one) => one.revokedAt === null,
      );
      expect(valid).toHaveLength(how === 'revoked' ? 0 : 1);
    },
  );

  it('the token is worthless once the node has renewed its certificate', async () => {
    const { token } = await rig.ticket('dc1', 'n1');
    const { key, request } = someRequest();
    const { certificate } = JSON.parse((await raw(enrolment(token, request))).body) as { certificate: string };
    expect(
      await raw(JSON.stringify({ request: someRequest().request }), '/v1/renew', { key, certificate }),
    ).toMatchObject({
      status: 200,
    });
    expect((await raw(enrolment(token, request))).body).toContain('token-used');
  });
});

describe('with the certificate of a node that is being revoked', () => {
  it.each([
    ['between the look at the certificate and the new one', true],
    ['at the same moment', false],
  ])('a running renewal ends with the identity: %s', async (_when, isBetween) => {
    for (let round = 0; round < 5; round++) {
      const node = `${isBetween ? 'between' : 'beside'}${round}`;
      const { key, certificate } = (await rig.node('dc1', node)).credentials;
      const renew = () => raw(JSON.stringify({ request: someRequest().request }), '/v1/renew', { key, certificate });
      const revoke = () =>
        rig.store.nodeIdentities.revoke({ site: 'dc1', node, at: rig.now.toISOString(), reason: 'stolen' });
      if (isBetween) rig.afterLookUp = revoke;
      await Promise.all([renew(), renew(), ...(isBetween ? [] : [revoke()]), renew()]);
      rig.afterLookUp = async () => undefined;
      const all = await rig.store.nodeIdentities.listCertificates('dc1', node);
      expect(all.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
    }
  });
});

it('a node keeps no key of its enrolment', async () => {
  const folder = rig.nodeFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(nodeFiles(folder).ticket, JSON.stringify(await rig.ticket('dc1', 'n1')), { mode: 0o600 });
  const log = { info: () => undefined, warn: () => undefined };
  await ownCredentials(folder, log, new AbortController().signal);
  expect(readdirSync(folder)).toEqual(['credentials.json']);
});

describe('with the certificate and key of a node', () => {
  const shell = { run: '', task: 'netconfig', node: 'n1', generation: 1, type: 'shell', parameters: { cmd: 'true' } };

  it('no output or result is stored of an attempt that was never ordered', async () => {
    const node = await rig.node('dc1', 'n1');
    const { key, certificate } = node.credentials;
    const execution = { ...shell, run: rig.run };
    const asked = rig.plan(execution);
    const result = (generation: number) =>
      raw(
        JSON.stringify({
          run: rig.run,
          task: 'netconfig',
          node: 'n1',
          generation,
          result: { v: 1, x: 'x'.repeat(400_000) },
        }),
        '/v1/result',
        { key, certificate },
      );
    for (let generation = 1; generation < 6; generation++) expect((await result(generation)).status).toBe(403);
    expect(rig.shipped).toEqual([]);
    await node.fetch(asked);
    expect((await result(1)).status).toBe(204);
    expect((await result(2)).status).toBe(403);
    expect(rig.shipped.map(({ key: of }) => of.generation)).toEqual([1]);
    expect(await rig.alarms()).toContain('dc1/n1 not-ordered');
  });

  it('varying alarms neither fill the store nor hide others', async () => {
    const { key, certificate } = (await rig.node('dc1', 'n1')).credentials;
    for (let i = 0; i < 60; i++)
      await raw(JSON.stringify({ kind: `made-up-${'x'.repeat(i % 20)}`, message: `m${i}` }), '/v1/alarm', {
        key,
        certificate,
      });
    const seen = await rig.alarms();
    expect(seen).toHaveLength(31);
    expect(seen).toContain('dc1/n1 too-many-alarms');
    await rig.store.nodeIdentities.revoke({ site: 'dc1', node: 'n1', at: rig.now.toISOString(), reason: 'stolen' });
    await raw('{}', '/v1/alarm', { key, certificate });
    expect(await rig.alarms()).toContain('dc1/n1 revoked-certificate');
  });
});
