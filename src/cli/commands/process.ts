import { given } from '../../core/data/given.ts';
import { guardWebUi } from '../../platform/temporal/web-ui-guard.ts';
import { addressOf } from '../shell/api-address.ts';
import type { CliCommand } from '../shell/command.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

interface UpFlags {
  readonly temporal: boolean;
  readonly token: boolean;
  readonly simulateMaas?: boolean;
  readonly maasSeed?: string[];
}

/** `sitewright up`, `api`: the processes of a system. */
export function registerProcesses(program: CliCommand, session: Session): void {
  const { terminal } = session;

  program
    .verb('up', 'Run everything: Temporal dev server if none answers, API, worker; Ctrl-C stops all of it')
    .example('--simulate-maas')
    .option('--no-temporal', 'start no Temporal server: one must answer at temporal.address')
    .option('--no-token', 'require no token: every user of this machine may use this system as an admin')
    .option('--simulate-maas', 'run a model of MAAS too, and use it')
    .option(
      '--maas-seed <paths...>',
      'documents of a site, for which the model of MAAS has images, networks and bare machines, or a JSON seed',
    )
    .action(async (flags: UpFlags) => {
      if (flags.maasSeed !== undefined && !flags.simulateMaas)
        throw usageError('--maas-seed is for the model of MAAS', 'Add --simulate-maas.');
      const { settings, origins } = await session.settings();
      const isSet = (path: string): boolean => origins.get(path)?.from !== 'default';
      const isOff = !flags.token || (isSet('access.tokens') && settings.access.tokens === 'off');
      const [{ runAll }, { systemAt, warningBeside }] = await Promise.all([
        import('../../../worker/up.ts'),
        import('../shell/system-beside.ts'),
      ]);
      const { config } = session.flags();
      process.exitCode = await runAll(terminal, settings, {
        startTemporal: flags.temporal,
        hasStateFolder: isSet('agent.state_dir'),
        simulateMaas: flags.simulateMaas === true,
        tokens: isOff ? 'off' : isSet('access.tokens') ? 'set' : 'own',
        others: {
          at: (host, port) => systemAt(addressOf(host, port)),
          warning: (own, sharesTemporal, token) => warningBeside(own, terminal, sharesTemporal, token),
        },
        ...given({ maasSeed: flags.maasSeed, config }),
      });
    });

  program
    .verb('api', 'Run only the REST API')
    .example()
    .action(async () => {
      const { settings } = await session.settings();
      const { serveApi } = await import('../../../worker/api.ts');
      await serveApi(terminal, settings);
    });
}

/** `sitewright demo`: the example site on simulated machines. */
export function registerDemo(program: CliCommand, session: Session): void {
  program
    .verb('demo', 'Deploy an example site to simulated machines, show its report, and end')
    .example()
    .example('--keep')
    .option('--keep', 'leave everything running until Ctrl-C')
    .action(async (flags: { readonly keep?: boolean }) => {
      const { runDemo } = await import('../../../worker/demo.ts');
      process.exitCode = await runDemo(session.terminal, { keep: flags.keep === true });
    });
}

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
        ...hostAndPort('--listen', listen),
        target: hostAndPort('--target', target),
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

function hostAndPort(flag: string, text: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^(?:http:\/\/)?\[?([^[\]/]+)\]?:(\d{1,5})\/?$/.exec(text) ?? [];
  if (host !== '' && Number(port) <= 65_535) return { host, port: Number(port) };
  throw usageError(`${flag} is not a host and a port: ${text}`, 'Write it as 127.0.0.1:8080.');
}
