import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/shell/exit-codes.ts';
import { addEncryptionKey } from '../../../src/platform/codec/encryption-keys.ts';
import { loadSettings } from '../../../src/platform/settings/load-settings.ts';
import type { Settings } from '../../../src/platform/settings/settings.ts';
import { createLogger } from '../../../src/platform/telemetry/log.ts';
import { WorkerMetrics } from '../../../src/platform/telemetry/metrics.ts';
import { startGateway } from '../../../worker/gateway.ts';
import { startCodecEndpoint } from '../../../worker/parts/encryption.ts';
import { startMetricsServer } from '../../../worker/parts/metrics.ts';
import { explainStart } from '../../../worker/parts/serve.ts';

const log = createLogger({ level: 'silent', format: 'json' }, 'listening');
const folder = mkdtempSync(join(tmpdir(), 'sitewright-listen-'));
const other = createServer();
let port: string;

beforeAll(async () => {
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  port = String((other.address() as AddressInfo).port);
  addEncryptionKey(join(folder, 'keys'));
});
afterAll(() => {
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

const SERVERS: Readonly<Record<string, [(settings: Settings) => Promise<unknown>, Readonly<Record<string, string>>]>> =
  {
    GATEWAY: [(settings) => startGateway(settings, log), { SITEWRIGHT_GATEWAY_DATA_DIR: join(folder, 'gateway') }],
    CODEC: [
      (settings) => startCodecEndpoint(settings, log, undefined),
      { SITEWRIGHT_CODEC_ORIGIN: 'http://ui.test', SITEWRIGHT_TEMPORAL_ENCRYPTION_KEY_FILE: join(folder, 'keys') },
    ],
    TELEMETRY_METRICS: [(settings) => startMetricsServer(settings, new WorkerMetrics('9'), log), {}],
  };

describe.each(Object.entries(SERVERS))('%s', (section, [start, more]) => {
  it.each([
    ['127.0.0.1', 'the port is already in use', EXIT.conflict],
    ['192.0.2.1', 'this machine does not have that address', undefined],
  ])('reports why it cannot listen at %s and the setting to change, without a stack', async (host, why, exit) => {
    const env: Record<string, string> = { SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'store.db')}`, ...more };
    env[`SITEWRIGHT_${section}_HOST`] = host;
    env[`SITEWRIGHT_${section}_PORT`] = port;
    // A decrypting endpoint beyond this machine requires tokens.
    const authorize = section === 'CODEC' && host !== '127.0.0.1';
    const loaded = loadSettings({ cwd: folder, env });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const { settings } = loaded;
    const error: unknown = await (authorize
      ? startCodecEndpoint(settings, log, async () => undefined)
      : start(settings)
    ).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(explainStart(error, settings, 'process')).toMatchObject({
      ...(exit === undefined ? {} : { exitCode: exit }),
      problem: {
        code: 'cannot-listen',
        message: expect.stringContaining(`cannot listen on ${host}:${port}: ${why}; set `),
      },
    });
    expect((error as Error).message).toContain(`(SITEWRIGHT_${section}_HOST, SITEWRIGHT_${section}_PORT)`);
  });
});
