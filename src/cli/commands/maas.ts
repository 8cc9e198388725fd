import type { MaasSimulateFlags } from '../../../worker/maas-simulate.ts';
import type { MaasCheck } from '../../core/contracts/service.ts';
import { printable } from '../../core/text/control-characters.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { CliError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { type Paint, paintFor } from '../views/paint.ts';
import { describeMaasSimulate } from './maas-simulate.ts';

/** `sitewright maas …`: check MAAS, or run a model of it. */
export function registerMaas(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('maas', 'MAAS: check it, or run a model of it');

  group
    .verb('check', 'Check URL, key and permissions of MAAS, and count its machines by state')
    .example()
    .option('--direct', 'call MAAS directly with the local settings, not through the API')
    .output()
    .action(async (flags: OutputFlags & { readonly direct?: boolean }) => {
      const check = (await (flags.direct ? undefined : throughApi(session))) ?? (await directly(session));
      await printOne(terminal, flags, check, (color) => checkText(check, paintFor(color)));
      if (!check.ok) process.exitCode = EXIT.unreachable;
    });

  describeMaasSimulate(group.command('simulate')).action(async (flags: MaasSimulateFlags) => {
    const { runMaasSimulator } = await import('../../../worker/maas-simulate.ts');
    await runMaasSimulator(flags);
  });
}

/** The check by the API, whose connection deployments use; undefined when the API does not answer. */
async function throughApi(session: Session): Promise<MaasCheck | undefined> {
  try {
    return await (await session.client()).maas.check();
  } catch (error) {
    const away = error instanceof CliError && ['api-unreachable', 'not-our-api'].includes(error.problem.code);
    if (away && session.flags().api === undefined && !session.terminal.env.SITEWRIGHT_API) return undefined;
    throw error;
  }
}

async function directly(session: Session): Promise<MaasCheck> {
  const { settings } = await session.settings();
  const { checkMaasDirectly } = await import('../../../worker/maas-check.ts');
  return checkMaasDirectly(settings);
}

function checkText(check: MaasCheck, paint: Paint): string {
  const lines = check.findings.flatMap((finding) => {
    const word = finding.ok
      ? paint.good('ok     ')
      : finding.severity === 'error'
        ? paint.bad('failed ')
        : paint.busy('warning');
    const fix = finding.fix === undefined ? [] : [`         ${paint.strong('fix:')} ${printable(finding.fix)}`];
    return [`${word}  ${printable(finding.message)}`, ...fix];
  });
  const machines = (check.machines ?? []).map(
    ({ name, count }) => `  ${String(count).padStart(5)}  ${printable(name)}`,
  );
  return `${[...lines, ...(machines.length > 0 ? ['machines by state', ...machines] : [])].join('\n')}\n`;
}
