import { given } from '../../core/data/given.ts';
import { addressOf } from '../api-address.ts';
import type { CliCommand } from '../command.ts';
import { usageError } from '../problem.ts';
import type { Session } from '../session.ts';

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
        import('../system-beside.ts'),
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
