import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { supervisorEnvironment } from '../src/agent/supervision/supervisor-environment.ts';
import { MASTER_AGENT } from '../src/clusters/agent-address.ts';
import { writePrivate } from '../src/platform/files/private-file.ts';
import { freePort } from '../src/platform/free-port.ts';
import { type Settings, settingDefinitions } from '../src/platform/settings/settings.ts';
import { makeTicket } from './node-identities.ts';
import { nodeFiles } from './parts/own-credentials.ts';

/** Settings that the agent needs. It gets addresses with its ticket, and nothing of the store, secrets or MAAS. */
const NEEDED = /^(?:temporal\.(?:tls\..*|api_key_file|encryption_key_file)|log\..*|agent\.keep_days)$/;

/** Where the gateway for the agent listens: as configured, else on a free port of this machine. Undefined: it runs elsewhere. */
export async function gatewayBeside({
  gateway,
}: Settings): Promise<Pick<Settings['gateway'], 'host' | 'port'> | undefined> {
  const { host, port, url } = gateway;
  if (host === undefined && url !== undefined) return undefined;
  return { host: host ?? '127.0.0.1', port: host === undefined || port === 0 ? await freePort() : port };
}

/**
 * Prepares an agent of `master` for this user: a new ticket in a folder of its own, where its policy may be, too.
 *
 * @param settings with the gateway's address
 * @returns its command with a clean environment
 */
export async function prepareMasterAgent(settings: Settings, folder: string, env: NodeJS.ProcessEnv) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ticket = await makeTicket(settings, MASTER_AGENT.site, MASTER_AGENT.node);
  writePrivate(nodeFiles(folder).ticket, JSON.stringify(ticket));
  return {
    args: ['agent', 'serve', '--folder', folder],
    // A settings file of the working folder is not for it.
    cwd: folder,
    env: {
      ...supervisorEnvironment(env),
      ...neededOf(settings),
      SITEWRIGHT_AGENT_STATE_DIR: join(folder, 'journal'),
    },
    ready: /^agent ready/,
  };
}

function neededOf(settings: Settings): NodeJS.ProcessEnv {
  const needed = settingDefinitions.filter(({ path }) => NEEDED.test(path));
  const values = needed.map(({ path, variable }) => [variable, valueAt(settings, path)] as const);
  return Object.fromEntries(values.flatMap(([variable, value]) => (value == null ? [] : [[variable, String(value)]])));
}

const valueAt = (settings: Settings, path: string): unknown =>
  path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], settings);
