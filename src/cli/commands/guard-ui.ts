import { guardWebUi } from '../../platform/temporal/web-ui-guard.ts';
import type { CliCommand } from '../command.ts';
import { usageError } from '../problem.ts';
import type { Session } from '../session.ts';

interface GuardFlags {
  readonly listen: string;
  readonly target: string;
  readonly name: readonly string[];
}

/** `sitewright guard-ui`: Temporal's Web UI, for its own page only. `up` needs none: it has its guard. */
export function registerGuardUi(program: CliCommand, { terminal }: Session): void {
  program
    .verb('guard-ui', 'Serve a Temporal Web UI to its own page only, and to no page of another site')
    .example('--listen 127.0.0.1:8233 --target 127.0.0.1:8080')
    .option('--listen <address>', 'host and port that browsers reach', '127.0.0.1:8233')
    .requiredOption('--target <address>', 'host and port of the Web UI, which should listen nowhere else')
    .option('--name <names...>', 'host names, with their ports, of the guard beyond those of this machine', [])
    .action(async ({ listen, target, name }: GuardFlags) => {
      const interrupted = terminal.interrupted();
      const guard = await guardWebUi({
        ...addressOf('--listen', listen),
        target: addressOf('--target', target),
        names: name,
      });
      terminal.out(`Temporal’s Web UI is served at http://${listen}\n`);
      await new Promise<void>((stop) => {
        if (interrupted.aborted) stop();
        interrupted.addEventListener('abort', () => stop(), { once: true });
      });
      await guard.close();
    });
}

function addressOf(flag: string, text: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^(?:http:\/\/)?\[?([^[\]/]+)\]?:(\d{1,5})\/?$/.exec(text) ?? [];
  if (host !== '' && Number(port) <= 65_535) return { host, port: Number(port) };
  throw usageError(`${flag} is not a host and a port: ${text}`, 'Write it as 127.0.0.1:8080.');
}
