import type { EnrolmentTicket } from '../src/agent/onboarding/enrolment-ticket.ts';
import { type InstallationEnd, installOverSsh } from '../src/agent/onboarding/install-over-ssh.ts';
import { parseSshTarget, type SshTarget, sshTargetProblem } from '../src/agent/onboarding/ssh-command.ts';
import { given } from '../src/core/data/given.ts';
import type { PinnedKey } from '../src/gateway/identity/proof.ts';
import { SigningKeys } from '../src/gateway/identity/signing-keys.ts';
import { issueTicket } from '../src/gateway/index.ts';
import { addEncryptionKey } from '../src/platform/codec/encryption-keys.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { type NodeCertificate, openStore, type Store } from '../src/store/index.ts';
import { gatewayUrl } from './parts/of-settings.ts';

async function withStore<T>(settings: Settings, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(settings.store.url);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Creates the ticket for enrolling a node with this machine's gateway. */
export const makeTicket = (settings: Settings, site: string, node: string): Promise<EnrolmentTicket> =>
  withStore(settings, async ({ nodeIdentities, audit }) => {
    const { data_dir: dataDir, token_hours: tokenHours } = settings.gateway;
    const office = { dataDir, gatewayUrl: gatewayUrl(settings), identities: nodeIdentities, tokenHours };
    const ticket = await issueTicket(office, site, node);
    await audit.append({ actor: actor(), action: 'identity.token', target: `node/${site}/${node}` });
    return ticket;
  });

export interface NodeToInstall {
  /** `[USER@]HOST` */
  readonly ssh: string;
  readonly site: string;
  readonly node: string;
  readonly port?: string;
  readonly identityFile?: string;
  readonly knownHosts?: string;
  readonly program: string;
  readonly again?: boolean;
}

/** Makes a machine a node over ssh. */
export async function installNode(settings: Settings, request: NodeToInstall): Promise<InstallationEnd> {
  const { agent_package: agentPackage } = settings.gateway;
  const target: SshTarget = {
    ...parseSshTarget(request.ssh),
    ...(request.port === undefined ? {} : { port: Number(request.port) }),
    ...given({ identityFile: request.identityFile, knownHostsFile: request.knownHosts }),
  };
  // Check before creating a token that would stay unused.
  const problem = sshTargetProblem(target);
  if (problem !== undefined) return { ok: false, message: problem, hint: 'Write it as [USER@]HOST.' };
  return installOverSsh(target, {
    ticket: await makeTicket(settings, request.site, request.node),
    program: request.program,
    again: request.again === true,
    ...given({ agentPackage }),
  });
}

export const certificatesOf = (settings: Settings, site: string, node?: string): Promise<readonly NodeCertificate[]> =>
  withStore(settings, ({ nodeIdentities }) => nodeIdentities.listCertificates(site, node));

/** Revokes all certificates and unused tokens of a node; returns the number of certificates. */
export const revokeNode = (settings: Settings, site: string, node: string, reason: string): Promise<number> =>
  withStore(settings, async ({ nodeIdentities, audit }) => {
    const count = await nodeIdentities.revoke({ site, node, at: new Date().toISOString(), reason });
    await audit.append({ actor: actor(), action: 'identity.revoke', target: `node/${site}/${node}`, reason });
    return count;
  });

const keysOf = (settings: Settings): SigningKeys => new SigningKeys(settings.gateway.data_dir);

export const orderKeys = (settings: Settings): readonly PinnedKey[] => keysOf(settings).publicKeys();

/** Creates a new key for orders; returns its id. */
export const rotateOrderKey = (settings: Settings): Promise<string> =>
  withStore(settings, async ({ audit }) => {
    const id = keysOf(settings).rotate();
    await audit.append({ actor: actor(), action: 'identity.rotate-order-key', target: `order-key/${id}` });
    return id;
  });

/** Drops a key for orders; false when there is none with that id. */
export const dropOrderKey = (settings: Settings, id: string): Promise<boolean> =>
  withStore(settings, async ({ audit }) => {
    const dropped = keysOf(settings).drop(id);
    if (dropped) await audit.append({ actor: actor(), action: 'identity.drop-order-key', target: `order-key/${id}` });
    return dropped;
  });

export const newEncryptionKey = (path: string): string => addEncryptionKey(path);

export const actor = (): string => process.env.SUDO_USER || process.env.USER || process.env.LOGNAME || 'operator';
