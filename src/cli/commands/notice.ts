import type { CliCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type OutputFlags, printList, printOne } from '../formats/output.ts';
import type { Session } from '../session.ts';

/** `sitewright notice …`: where notices about runs are sent, and whether they arrive. */
export function registerNotice(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('notice', 'Notices about runs that fail, are held or wait for approval');

  group
    .verb('list', 'Receivers of notices, with the result of the last delivery')
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const { items } = await session.call('GET /notices/receivers');
      const rows = items.map(({ last, ...receiver }) => ({
        ...receiver,
        last: last && `${last.at} ${last.delivered ? 'delivered' : last.message}`,
      }));
      await printList(terminal, flags, rows, ['name', 'address', 'events', 'sites', 'format', 'signed', 'last']);
    });

  group
    .verb('log', 'The last attempts to deliver notices, newest first')
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const { items } = await session.call('GET /notices/deliveries');
      const columns = ['at', 'receiver', 'event', 'attempt', 'delivered', 'status', 'message', 'run'];
      await printList(terminal, flags, items, columns);
    });

  group
    .verb('test', 'Send a test notice to a receiver; the exit code is 0 if it was delivered')
    .example('oncall')
    .argument('<receiver>', 'name of the receiver')
    .output()
    .action(async (receiver: string, flags: OutputFlags) => {
      const sent = await session.call('POST /notices/receivers/:receiver/test', { params: { receiver } });
      const text = sent.delivered ? `delivered to ${receiver}\n` : `not delivered to ${receiver}: ${sent.message}\n`;
      await printOne(terminal, flags, sent, text);
      if (!sent.delivered) process.exitCode = EXIT.failed;
    });
}
