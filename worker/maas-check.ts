import { checkMaas, MaasConfigurationError } from '@sitewright/maas';
import { EXIT } from '../src/cli/shell/exit-codes.ts';
import { CliError } from '../src/cli/shell/problem.ts';
import type { MaasCheck } from '../src/core/contracts/service.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { machinesWhenAsked } from './parts/services.ts';

/** Checks MAAS from this process with the settings. */
export async function checkMaasDirectly(settings: Settings): Promise<MaasCheck> {
  const machines = machinesWhenAsked(settings);
  try {
    const { distro_series: series } = settings.deploy;
    const needs = series === undefined ? {} : { series: [series] };
    const { user, version, machines: states, ...check } = await checkMaas(machines.maas().client, needs);
    return {
      ...check,
      ...(version ? { version } : {}),
      ...(user ? { user: { username: user.username, edits_machines: user.editsMachines } } : {}),
      ...(states ? { machines: states } : {}),
    };
  } catch (error) {
    if (!(error instanceof MaasConfigurationError)) throw error;
    throw new CliError(
      {
        code: 'maas-not-configured',
        message: error.message,
        hint: "Set maas.url and maas.key_file in sitewright.yaml, or SITEWRIGHT_MAAS_URL and SITEWRIGHT_MAAS_KEY. 'sitewright config show' prints what is set.",
      },
      EXIT.unreachable,
    );
  } finally {
    await machines.close();
  }
}
