import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  connect as connectHttp2,
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
} from 'node:http2';
import { type AddressInfo, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cutOff, serverOptions, treatAlike } from '../../../../src/api/http2.ts';
import { TokenOperations } from '../../../../src/ops/tokens.ts';
import { loadSettings } from '../../../../src/platform/settings/load-settings.ts';
import { createLogger } from '../../../../src/platform/telemetry/log.ts';
import { ClientLink } from '../../../../src/platform/temporal/client-link.ts';
import { connectionOptions } from '../../../../src/platform/temporal/connection-options.ts';
import { followCredentials } from '../../../../src/platform/temporal/follow-credentials.ts';
import { probeServer } from '../../../../src/platform/temporal/probe.ts';
import { openStore } from '../../../../src/store/index.ts';
import { startApi } from '../../../../worker/api.ts';
import { cli } from '../../cli/recording-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-tls-'));
const at = (name: string): string => join(folder, name);
const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
const hasOpenssl = (() => {
  try {
    openssl('version');
    return true;
  } catch {
    console.warn('no openssl here: TLS is not tested');
    return false;
  }
})();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function authority(name: string): void {
  const subject = ['-subj', `/CN=${name}`, '-addext', 'basicConstraints=critical,CA:TRUE'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-days', '2', ...subject);
}

function certificate(name: string, host: string, issuer: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
  writeFileSync(at(`${name}.ext`), `subjectAltName=${isIP(host) ? 'IP' : 'DNS'}:${host}\n`);
  const by = ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial', '-extfile', `${name}.ext`];
  openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, '-days', '1', ...by);
}

describe.skipIf(!hasOpenssl)('TLS', () => {
  beforeAll(() => {
    authority('ca');
    authority('stranger');
    certificate('server', '127.0.0.1', 'ca');
    certificate('named', 'temporal.example', 'ca');
    certificate('client', 'client.example', 'ca');
    certificate('renewed', 'client.example', 'ca');
    certificate('intruder', 'client.example', 'stranger');
  });

  describe('to Temporal', () => {
    interface Seen {
      readonly subject: string | undefined;
      readonly authorization: string | undefined;
    }

    /** A server of gRPC that admits only clients with a certificate of our authority, and knows no method. */
    async function server(name: string) {
      const seen: Seen[] = [];
      const sessions = new Set<ServerHttp2Session>();
      const secure: Http2SecureServer = createSecureServer({
        ...{ cert: readFileSync(at(`${name}.pem`)), key: readFileSync(at(`${name}.key`)) },
        ...{ ca: readFileSync(at('ca.pem')), requestCert: true, rejectUnauthorized: true },
      });
      secure.on('session', (session) => {
        sessions.add(session);
        session.on('error', () => undefined);
      });
      secure.on('stream', (stream, headers) => {
        const subject = (stream.session!.socket as TLSSocket).getPeerCertificate().subject?.CN;
        seen.push({ subject: subject as string | undefined, authorization: headers.authorization });
        stream.on('error', () => undefined);
        stream.respond(
          { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' },
          { endStream: true },
        );
      });
      await new Promise<void>((listening) => secure.listen(0, '127.0.0.1', listening));
      return {
        seen,
        address: `127.0.0.1:${(secure.address() as AddressInfo).port}`,
        async close() {
          for (const session of sessions) session.destroy();
          await new Promise((closed) => secure.close(closed));
        },
      };
    }

    const ours = () => ({ ca_file: at('ca.pem'), cert_file: at('client.pem'), key_file: at('client.key') });

    it('sends our certificate and API key, for clients and workers', async () => {
      writeFileSync(at('api.key'), 'the-api-key\n', { mode: 0o600 });
      const { address, seen, close } = await server('server');
      const options = connectionOptions({ address, tls: ours(), api_key_file: at('api.key') });
      const client = await Connection.connect(options);
      await client.close();
      const wanted = { subject: 'client', authorization: 'Bearer the-api-key' };
      expect(seen.length).toBeGreaterThan(0);
      expect(seen).toContainEqual(wanted);
      seen.length = 0;
      // Workers insist on a server that knows the method: this one has seen the caller.
      await NativeConnection.connect(options).then(
        (native) => native.close(),
        () => undefined,
      );
      expect(seen).toContainEqual(wanted);
      await close();
    });

    it('sends a new API key and certificate without a restart, and keeps the last ones while files are inconsistent', async () => {
      writeFileSync(at('rotated.key'), 'first\n', { mode: 0o600 });
      copyFileSync(at('client.pem'), at('rotated.pem'));
      copyFileSync(at('client.key'), at('rotated-key.pem'));
      const { address, seen, close } = await server('server');
      const tls = { ca_file: at('ca.pem'), cert_file: at('rotated.pem'), key_file: at('rotated-key.pem') };
      const ofServer = { address, tls, api_key_file: at('rotated.key') };
      const link = new ClientLink(await Connection.connect(connectionOptions(ofServer)), (now) =>
        Connection.lazy({ ...now, connectTimeout: 500 }),
      );
      const client = link.connection;
      const lines: string[] = [];
      const note = (...said: unknown[]) => void lines.push(String(said.at(-1)));
      const endFollowing = followCredentials(ofServer, [link], { info: note, warn: note }, 20);
      const shown = async () => {
        seen.length = 0;
        await client.workflowService.getSystemInfo({}).catch(() => undefined);
        return `${seen.at(-1)?.subject}: ${seen.at(-1)?.authorization}`;
      };
      expect(await shown()).toBe('client: Bearer first');
      rmSync(at('rotated.key'));
      const kept = 'credentials for Temporal could not be replaced; the last ones stay in use';
      const replaced = 'credentials for Temporal were replaced';
      await expect.poll(() => lines).toEqual([kept]);
      expect(await shown()).toBe('client: Bearer first');
      writeFileSync(at('rotated.key'), 'second\n', { mode: 0o600 });
      await expect.poll(shown).toBe('client: Bearer second');
      expect(lines).toEqual([kept, replaced]);

      // A certificate without its key is not taken.
      copyFileSync(at('renewed.pem'), at('rotated.pem'));
      await expect.poll(() => lines).toEqual([kept, replaced, kept]);
      expect(await shown()).toBe('client: Bearer second');
      copyFileSync(at('renewed.key'), at('rotated-key.pem'));
      await expect.poll(shown).toBe('renewed: Bearer second');

      // One that the server refuses is not taken either, and the next one is.
      lines.length = 0;
      copyFileSync(at('intruder.key'), at('rotated-key.pem'));
      copyFileSync(at('intruder.pem'), at('rotated.pem'));
      await expect.poll(() => lines.at(-1)).toBe(kept);
      expect(await shown()).toBe('renewed: Bearer second');
      copyFileSync(at('client.key'), at('rotated-key.pem'));
      copyFileSync(at('client.pem'), at('rotated.pem'));
      await expect.poll(shown).toBe('client: Bearer second');
      expect(lines.join()).not.toContain('second');
      endFollowing();
      await client.close();
      await close();
    });

    it('checks the authority and name of the server', async () => {
      const [right, named] = [await server('server'), await server('named')];
      const reaches = async (address: string, tls: object) => {
        const probe = await probeServer({ address, tls }, { namespace: 'default', limitMs: 10_000 });
        return 'problem' in probe ? probe.problem : probe.status;
      };
      // The method does not exist, so the server was reached.
      const reached = /unimplemented/i;
      const refused = /connect/i;
      const intruder = { cert_file: at('intruder.pem'), key_file: at('intruder.key') };
      // All together: refused connections are retried until the probe's limit.
      await Promise.all(
        (
          [
            [right, ours(), reached],
            [right, { ...ours(), ca_file: at('stranger.pem') }, refused],
            [right, { ...ours(), ...intruder }, refused],
            [right, { ca_file: at('ca.pem') }, refused],
            [named, ours(), refused],
            [named, { ...ours(), server_name: 'temporal.example' }, reached],
          ] as const
        ).map(async ([{ address }, tls, answer]) => expect(await reaches(address, tls)).toMatch(answer)),
      );
      expect([right.seen.length > 0, named.seen.length > 0]).toEqual([true, true]);
      await Promise.all([right.close(), named.close()]);
    });

    it('is used when any part of it is set, and names an unreadable setting', () => {
      expect(connectionOptions({ address: 'a:1', tls: {} })).toEqual({ address: 'a:1' });
      expect(connectionOptions({ address: 'a:1', tls: { server_name: 'x' } })).toEqual({
        address: 'a:1',
        tls: { serverNameOverride: 'x' },
      });
      writeFileSync(at('only.key'), 'k\n');
      expect(connectionOptions({ address: 'a:1', api_key_file: at('only.key') })).toEqual({
        address: 'a:1',
        tls: true,
        apiKey: 'k',
      });
      expect(() => connectionOptions({ address: 'a:1', tls: { ca_file: '/nowhere' } })).toThrow(
        'the file of temporal.tls.ca_file, /nowhere, cannot be read (ENOENT)',
      );
      writeFileSync(at('empty'), '\n');
      expect(() => connectionOptions({ address: 'a:1', api_key_file: at('empty') })).toThrow(/temporal\.api_key_file/);
    });
  });

  describe('of the API', () => {
    const quiet = createLogger({ level: 'silent', format: 'json' }, 'test');
    const settingsOf = (env: NodeJS.ProcessEnv) => {
      const loaded = loadSettings({
        cwd: folder,
        env: {
          SITEWRIGHT_API_PORT: '0',
          SITEWRIGHT_STORE_URL: `sqlite:${at('store.db')}`,
          SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:1',
          ...env,
        },
      });
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
      return loaded.settings;
    };
    const withTls = { SITEWRIGHT_API_TLS_CERT_FILE: at('server.pem'), SITEWRIGHT_API_TLS_KEY_FILE: at('server.key') };

    it('accepts the CLI with a token, over a mutually verified connection', async () => {
      const settings = settingsOf({ ...withTls, SITEWRIGHT_ACCESS_TOKENS: 'on' });
      const api = await startApi(settings, quiet);
      expect(api.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
      const store = await openStore(settings.store.url);
      const { token } = await new TokenOperations(store).create({ name: 'nina', role: 'admin' }, 'test');
      await store.close();
      writeFileSync(at('token'), `${token}\n`, { mode: 0o600 });
      const env = { SITEWRIGHT_API: api.url, SITEWRIGHT_CA_FILE: at('ca.pem') };
      const call = (more: NodeJS.ProcessEnv, ...args: string[]) => cli(args, { env: { ...env, ...more }, cwd: folder });
      expect(await call({}, 'site', 'list')).toMatchObject({ code: 6 });
      expect(await call({ SITEWRIGHT_TOKEN: token }, 'site', 'list')).toMatchObject({ code: 0 });
      expect(
        await call({}, '--token-file', 'token', 'token', 'create', '--name', 'eva', '--role', 'viewer'),
      ).toMatchObject({ code: 0 });
      expect(await call({}, '--token-file', 'token', 'token', 'revoke', 'eva', '--yes')).toMatchObject({ code: 0 });
      expect(await call({}, '--token-file', 'token', 'token', 'revoke', 'eva', '--yes')).toMatchObject({ code: 3 });
      execFileSync('chmod', ['644', at('token')]);
      expect(await call({}, '--token-file', 'token', 'site', 'list')).toMatchObject({ code: 2 });
      // No authority vouches for the certificate.
      expect(
        await call({ SITEWRIGHT_CA_FILE: at('stranger.pem'), SITEWRIGHT_TOKEN: token }, 'site', 'list'),
      ).toMatchObject({ code: 5 });
      await api.stop();
    });

    it('is served over HTTP/2, by the same rules', async () => {
      const api = await startApi(settingsOf(withTls), quiet);
      const session = connectHttp2(api.url, { ca: readFileSync(at('ca.pem')), servername: '' });
      const ask = async (headers: OutgoingHttpHeaders, body = '') => {
        const stream = session.request(headers, { endStream: body === '' });
        if (body !== '') stream.end(body);
        const [{ ':status': status }] = (await once(stream, 'response')) as [IncomingHttpHeaders];
        return { status, body: await text(stream) };
      };
      const sites = '/api/v1/sites';
      const create = { ':method': 'POST', ':path': sites, 'content-type': 'application/json' };
      const origin = (from: string) => ask({ ...create, origin: from }, JSON.stringify({ name: 'dc1' }));
      const events = session.request({ ':path': '/api/v1/events' });
      await once(events, 'data');
      // On the connection of a stream that does not end.
      expect(await ask({ ':path': sites })).toMatchObject({ status: 200 });
      expect(session.alpnProtocol).toBe('h2');
      expect(await ask({ ':path': sites, ':authority': 'rebound.example' })).toMatchObject({ status: 403 });
      expect(await origin('https://foreign.example')).toMatchObject({ status: 403 });
      expect(await origin(new URL(api.url).origin)).toMatchObject({ status: 201 });
      expect(await ask({ ...create }, '{'.repeat(2 * 1024 * 1024)).catch(() => ({ status: 413 }))).toMatchObject({
        status: 413,
      });
      await Promise.all([once(events, 'close'), api.stop()]);
      session.destroy();
    });

    it('cuts off a request over HTTP/2 that does not arrive in time, and no other of its connection', async () => {
      const app = Fastify(
        serverOptions({ cert: readFileSync(at('server.pem'), 'utf8'), key: readFileSync(at('server.key'), 'utf8') }),
      );
      app.all('/', async () => ({}));
      app.get('/cut', async (request) => cutOff(request as never));
      treatAlike(app as never, 20);
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      const session = connectHttp2(url, { ca: readFileSync(at('ca.pem')), servername: '' });
      const slow = session.request({ ':method': 'POST', 'content-type': 'application/json', 'content-length': 100 });
      slow.on('error', () => undefined);
      slow.write('{');
      await once(slow, 'close');
      expect(slow.rstCode).toBe(constants.NGHTTP2_CANCEL);
      const cut = session.request({ ':path': '/cut' });
      cut.on('error', () => undefined);
      await once(cut, 'close');
      expect(cut.rstCode).toBe(constants.NGHTTP2_CANCEL);
      const [head] = await once(session.request({}), 'response');
      expect(head).toMatchObject({ ':status': 200 });
      session.destroy();
      await app.close();
    });

    it('uses a renewed certificate without a restart', async () => {
      const pair = { SITEWRIGHT_API_TLS_CERT_FILE: at('api.pem'), SITEWRIGHT_API_TLS_KEY_FILE: at('api-key.pem') };
      const renew = (name: string) => {
        copyFileSync(at(`${name}.pem`), at('api.pem'));
        writeFileSync(at('api-key.pem'), readFileSync(at(`${name}.key`)), { mode: 0o600 });
      };
      renew('server');
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const api = await startApi(settingsOf(pair), quiet);
      const shown = async () => {
        const socket = connect({ port: Number(new URL(api.url).port), rejectUnauthorized: false });
        await once(socket, 'secureConnect');
        const { subject } = socket.getPeerCertificate();
        socket.destroy();
        return subject.CN;
      };
      expect(await shown()).toBe('server');
      renew('named');
      await vi.advanceTimersByTimeAsync(10_000);
      await expect.poll(shown).toBe('named');
      vi.useRealTimers();
      await api.stop();
    });

    it('refuses a certificate without its key with a clear message', async () => {
      const wrong = { ...withTls, SITEWRIGHT_API_TLS_KEY_FILE: at('client.key') };
      await expect(startApi(settingsOf(wrong), quiet)).rejects.toThrow(
        /^the API cannot listen: api\.tls\.cert_file and api\.tls\.key_file/,
      );
      const absent = { ...withTls, SITEWRIGHT_API_TLS_CERT_FILE: at('nowhere.pem') };
      await expect(startApi(settingsOf(absent), quiet)).rejects.toThrow(
        /api\.tls\.cert_file, .*nowhere\.pem, cannot be read/,
      );
    });
  });
});
