import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import type { Session } from '../shell/session.ts';

/** `sitewright notice …`: where notices about runs are sent, and whether they arrive. */
export function registerNotice(program: CliCommand, session: Session): void {
  const group = program.verb('notice', 'Notices about runs that fail, are held or wait for approval');

  group
    .verb('list', 'Receivers of notices, with the result of the last delivery')
    .example()
    .calls(session, 'GET /notices/receivers', {
      columns: ['name', 'address', 'events', 'sites', 'format', 'signed', 'last'],
      rows: (items) =>
        items.map(({ last, ...receiver }) => ({
          ...receiver,
          last: last && `${last.at} ${last.delivered ? 'delivered' : last.message}`,
        })),
    });

  group
    .verb('log', 'The last attempts to deliver notices, newest first')
    .example()
    .calls(session, 'GET /notices/deliveries', {
      columns: ['at', 'receiver', 'event', 'attempt', 'delivered', 'status', 'message', 'run'],
    });

  group
    .verb('test', 'Send a test notice to a receiver; the exit code is 0 if it was delivered')
    .example('oncall')
    .argument('<receiver>', 'name of the receiver')
    .calls(session, 'POST /notices/receivers/:receiver/test', {
      text: ({ delivered, message }, { args: [receiver] }) =>
        delivered ? `delivered to ${receiver}\n` : `not delivered to ${receiver}: ${message}\n`,
      after({ delivered }) {
        if (!delivered) process.exitCode = EXIT.failed;
      },
    });
}
