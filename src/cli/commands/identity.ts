import type { CliCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type OutputFlags, printList, printOne } from '../formats/output.ts';
import { CliError } from '../problem.ts';
import type { Session } from '../session.ts';

/** `sitewright identity …`: certificates of nodes, keys of orders and of encryption. Runs on the gateway's machine. */
export function registerIdentity(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('identity', 'Certificates of nodes, keys of orders and of encryption');
  const processes = () => import('../../../worker/node-identities.ts');

  group
    .command('certificates')
    .argument('<site>', 'site, or cluster-<id>')
    .argument('[node]', 'only this node')
    .description('Certificates of nodes, newest first')
    .example('dc1 node-1')
    .output()
    .action(async (site: string, node: string | undefined, flags: OutputFlags) => {
      const { settings } = await session.settings();
      const items = await (await processes()).certificatesOf(settings, site, node);
      await printList(terminal, flags, items, ['node', 'issuedAt', 'expiresAt', 'revokedAt', 'reason', 'fingerprint']);
    });

  group
    .command('revoke')
    .argument('<site>', 'site, or cluster-<id>')
    .argument('<node>', 'name of the node')
    .requiredOption('--reason <text>', 'why; it is recorded')
    .description('Revoke all certificates and unused tokens of a node')
    .example('dc1 node-1 --reason "stolen disk"')
    .output()
    .action(async (site: string, node: string, { reason, ...flags }: OutputFlags & { readonly reason: string }) => {
      const { settings } = await session.settings();
      const count = await (await processes()).revokeNode(settings, site, node, reason);
      const text = `${count} certificate${count === 1 ? '' : 's'} of ${site}/${node} revoked\n`;
      await printOne(terminal, flags, { site, node, certificates: count }, text);
    });

  group
    .verb('order-keys', 'Public keys of orders; the first one signs')
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const { settings } = await session.settings();
      await printList(terminal, flags, (await processes()).orderKeys(settings), ['id', 'public_key']);
    });

  group
    .verb('rotate-order-key', 'Sign with a new key from now on; nodes receive it with their next order')
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const { settings } = await session.settings();
      const id = await (await processes()).rotateOrderKey(settings);
      const text = `orders are now signed with ${id}; drop the former key when all nodes have connected since\n`;
      await printOne(terminal, flags, { id }, text);
    });

  group
    .command('remove-order-key')
    .argument('<id>', 'key that no longer signs')
    .description('Stop sending a key to nodes')
    .example('3f2a9c')
    .output()
    .action(async (id: string, flags: OutputFlags) => {
      const { settings } = await session.settings();
      if (await (await processes()).dropOrderKey(settings, id)) {
        return printOne(terminal, flags, { id }, `${id} is dropped\n`);
      }
      const hint = "See 'sitewright identity order-keys'; the first one cannot be dropped before another one signs.";
      throw new CliError(
        { code: 'no-such-key', message: `${id} is not a key that can be dropped`, hint },
        EXIT.notFound,
      );
    });

  group
    .command('encryption-key')
    .argument('<file>', 'key file, as temporal.encryption_key_file names it')
    .description('Add a new key as the first in the file of encryption keys; creates the file if needed')
    .example('encryption.keys')
    .output()
    .action(async (file: string, flags: OutputFlags) => {
      const id = (await processes()).newEncryptionKey(file);
      const text = `added key ${id} to ${file}; copy the file to all processes, then restart them\n`;
      await printOne(terminal, flags, { id, file }, text);
    });

  program
    .verb('gateway', 'Run only the gateway of node agents')
    .example()
    .action(async () => {
      const { settings } = await session.settings();
      const { serveGateway } = await import('../../../worker/gateway.ts');
      await serveGateway(terminal, settings);
    });
}
