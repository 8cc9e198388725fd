import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

/** `sitewright identity …`: certificates of nodes, keys of orders and of encryption. Runs on the gateway's machine. */
export function registerIdentity(program: CliCommand, session: Session): void {
  const group = program.verb('identity', 'Certificates of nodes, keys of orders and of encryption');
  registerCertificates(group, session);
  registerKeys(group, session);
  program
    .verb('gateway', 'Run only the gateway of node agents')
    .example()
    .action(async () => {
      const { serveGateway } = await import('../../../worker/gateway.ts');
      await serveGateway(session.terminal, await settingsOf(session));
    });
}

const processes = () => import('../../../worker/node-identities.ts');
const settingsOf = async (session: Session) => (await session.settings()).settings;

interface Revoked {
  readonly site: string;
  readonly node: string;
  readonly certificates: number;
}

function registerCertificates(group: CliCommand, session: Session): void {
  group
    .verb('certificates', 'Certificates of nodes, newest first')
    .argument('<site>', 'site, or cluster-<id>')
    .argument('[node]', 'only this node')
    .example('dc1 node-1')
    .prints(
      session,
      async ({ args: [site = '', node] }) => (await processes()).certificatesOf(await settingsOf(session), site, node),
      { columns: ['node', 'issuedAt', 'expiresAt', 'revokedAt', 'reason', 'fingerprint'] },
    );

  group
    .verb('revoke', 'Revoke all certificates and unused tokens of a node')
    .argument('<site>', 'site, or cluster-<id>')
    .argument('<node>', 'name of the node')
    .requiredOption('--reason <text>', 'why; it is recorded')
    .example('dc1 node-1 --reason "stolen disk"')
    .prints<Revoked, { readonly reason: string }>(
      session,
      async ({ args: [site = '', node = ''], flags: { reason } }) => {
        const certificates = await (await processes()).revokeNode(await settingsOf(session), site, node, reason);
        return { site, node, certificates };
      },
      {
        text: ({ site, node, certificates }) =>
          `${certificates} certificate${certificates === 1 ? '' : 's'} of ${site}/${node} revoked\n`,
      },
    );
}

function registerKeys(group: CliCommand, session: Session): void {
  group
    .verb('order-keys', 'Public keys of orders; the first one signs')
    .example()
    .prints(session, async () => (await processes()).orderKeys(await settingsOf(session)), {
      columns: ['id', 'public_key'],
    });

  group
    .verb('rotate-order-key', 'Sign with a new key from now on; nodes receive it with their next order')
    .example()
    .prints(session, async () => ({ id: await (await processes()).rotateOrderKey(await settingsOf(session)) }), {
      text: ({ id }) => `orders are now signed with ${id}; drop the former key when all nodes have connected since\n`,
    });

  group
    .verb('remove-order-key', 'Stop sending a key to nodes')
    .argument('<id>', 'key that no longer signs')
    .example('3f2a9c')
    .prints(
      session,
      async ({ args: [id = ''] }) => {
        if (await (await processes()).dropOrderKey(await settingsOf(session), id)) return { id };
        const message = `${id} is not a key that can be dropped`;
        const hint = "See 'sitewright identity order-keys'; the first one cannot be dropped before another one signs.";
        throw new CliError({ code: 'no-such-key', message, hint }, EXIT.notFound);
      },
      { text: ({ id }) => `${id} is dropped\n` },
    );

  group
    .verb('encryption-key', 'Add a new key as the first in the file of encryption keys; creates the file if needed')
    .argument('<file>', 'key file, as temporal.encryption_key_file names it')
    .example('encryption.keys')
    .prints(session, async ({ args: [file = ''] }) => ({ id: (await processes()).newEncryptionKey(file), file }), {
      text: ({ id, file }) => `added key ${id} to ${file}; copy the file to all processes, then restart them\n`,
    });
}
