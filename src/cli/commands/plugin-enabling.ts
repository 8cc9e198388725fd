import { isMapping } from '../../core/data/plain-value.ts';
import { unchecked } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { CliError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

interface Version {
  readonly plugin_id: number;
  readonly plugin_version: string;
}

/** `sitewright plugin enable|disable`: plugins of a cluster, which are groups of its settings. */
export function registerPluginEnabling(group: CliCommand, session: Session): void {
  const { client, terminal } = session;
  for (const [action, description] of [
    ['enable', 'Enable a plugin in a cluster, with its roles, tags, settings and graphs'],
    ['disable', 'Disable a plugin in a cluster'],
  ] as const) {
    group
      .verb(action, description)
      .example('monitoring --cluster lab')
      .argument('<plugin>', 'NAME, or NAME==VERSION')
      .ofCluster('cluster', 'required')
      .output()
      .action(async (which: string, { cluster, ...flags }: OutputFlags & { readonly cluster: string }) => {
        const api = await client();
        const params = { id: cluster };
        const { editable } = await api.call('GET /clusters/:id/attributes', { params });
        const [name, version] = which.split('==') as [string, string | undefined];
        const versions = versionsOf(editable[name]);
        const chosen = version === undefined ? versions[0] : versions.find((one) => one.plugin_version === version);
        if (chosen === undefined) throw notThere(which, session.textOf('cluster', cluster), editable);
        const chosenId = version === undefined ? {} : { chosen_id: chosen.plugin_id };
        const metadata = { enabled: action === 'enable', ...chosenId };
        const changed = await api.call('PATCH /clusters/:id/attributes', {
          params,
          body: unchecked({ editable: { [name]: { metadata } } }),
        });
        const { enabled, id } = stateOf(changed.editable[name]);
        const used = versions.find(({ plugin_id }) => plugin_id === id) ?? chosen;
        const text = `${name} ${used.plugin_version} is ${enabled ? 'enabled' : 'disabled'} in ${session.textOf('cluster', cluster)}\n`;
        await printOne(
          terminal,
          flags,
          { name, version: used.plugin_version, cluster: Number(cluster), enabled },
          text,
        );
      });
  }
}

const metadataOf = (group: unknown): Readonly<Record<string, unknown>> =>
  isMapping(group) && isMapping(group.metadata) && group.metadata.class === 'plugin' ? group.metadata : {};

function versionsOf(group: unknown): readonly Version[] {
  const { versions } = metadataOf(group);
  const given: readonly unknown[] = Array.isArray(versions) ? versions : [];
  return given.flatMap((one) => {
    const { plugin_id, plugin_version } = isMapping(one) && isMapping(one.metadata) ? one.metadata : {};
    return typeof plugin_id === 'number' && typeof plugin_version === 'string' ? [{ plugin_id, plugin_version }] : [];
  });
}

function stateOf(group: unknown): { readonly enabled: boolean; readonly id: unknown } {
  const { enabled, chosen_id } = metadataOf(group);
  return { enabled: enabled === true, id: chosen_id };
}

function notThere(which: string, cluster: string, editable: Readonly<Record<string, unknown>>): CliError {
  const known = Object.entries(editable).flatMap(([name, group]) =>
    versionsOf(group).map(({ plugin_version }) => `${name}==${plugin_version}`),
  );
  const hint =
    known.length === 0
      ? "No installed plugin fits its release. 'sitewright plugin list' shows which releases they extend."
      : `Plugins that fit: ${known.join(', ')}.`;
  return new CliError({ code: 'not-found', message: `no plugin '${which}' fits ${cluster}`, hint }, EXIT.notFound);
}
