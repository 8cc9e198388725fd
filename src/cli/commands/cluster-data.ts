import { isMapping } from '../../core/data/plain-value.ts';
import { HIDDEN, holdsHidden, withoutSecretValues } from '../../core/text/secrets.ts';
import { unchecked } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { clusterArgument } from '../shell/id-argument.ts';
import { type OutputFlags, printOne, yamlText } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

const ID = 'id of the cluster';

/** Data that can be saved to a file and loaded from it: name, path in the API, description. */
const DATA = [
  ['settings', 'attributes', 'settings (attributes)'],
  ['facts', 'orchestrator/deployment', 'data for tasks, instead of the computed data'],
  ['network', 'network_configuration/:provider', 'network configuration'],
] as const;

interface DataFlags extends OutputFlags {
  readonly download?: string | true;
  readonly upload?: string;
  readonly reset?: boolean;
  readonly set?: readonly string[];
  readonly force?: boolean;
}

/** Adds `settings`, `facts`, `network` to the `cluster` command: each prints, downloads or uploads. */
export function registerClusterData(group: CliCommand, session: Session): void {
  const { terminal } = session;
  for (const [name, path, what] of DATA) {
    const command = group
      .verb(name, `The ${what} of a cluster: printed, saved to a file, or loaded from one`)
      .example(`lab --download ${name}.yaml`)
      .example(`lab --upload ${name}.yaml`)
      .argument('<id>', ID, clusterArgument)
      .option('--download <file>', 'save them as YAML')
      .option('--upload <file>', 'load them from a file of YAML or JSON');
    if (name === 'facts') command.option('--reset', 'discard the loaded data');
    if (name === 'settings') {
      command
        .example('lab --set common.debug=true')
        .option('--set <settings...>', 'change some, each as GROUP.NAME=VALUE')
        .option('--force', 'keep also settings that nothing reads');
    }
    command.output().action(async (id: string, { download, upload, reset, set, force, ...flags }: DataFlags) => {
      const say = (text: string) => printOne(terminal, flags, { id: Number(id) }, text);
      const given = [download, upload, reset, set].filter((one) => one !== undefined);
      if (given.length > 1) throw usageError('these options exclude each other', 'Use one of the options in --help.');
      const client = await session.client();
      const params = { id, provider: 'neutron' };
      if (set !== undefined) {
        await client.call('PATCH /clusters/:id/attributes', {
          params: { id },
          query: force ? { force: 1 } : {},
          body: { editable: changedSettings(set) },
        });
        return say(
          `changed ${set.length === 1 ? 'a setting' : `${set.length} settings`} of ${session.textOf('cluster', id)}\n`,
        );
      }
      if (reset) {
        await client.call('DELETE /clusters/:id/orchestrator/deployment', { params: { id } });
        return say(`discarded the loaded ${name} of ${session.textOf('cluster', id)}: they are computed again\n`);
      }
      if (upload !== undefined) {
        const { readDataFile } = await import('../shell/data-file.ts');
        const data = await readDataFile(upload, terminal);
        if (holdsHidden(data))
          throw usageError(
            `${upload} holds ${HIDDEN} in place of secrets`,
            `A file with them is saved by: sitewright cluster ${name} ${id} --download FILE`,
          );
        if (!isMapping(data) && !(name === 'facts' && Array.isArray(data)))
          throw usageError(
            `${upload} does not hold the ${name} of a cluster`,
            `Write what 'sitewright cluster ${name} ${id}' prints.`,
          );
        const [first, ...rest] = name === 'facts' ? portionsOf(data) : [data];
        const body = unchecked(first);
        await (name === 'settings'
          ? client.call('PUT /clusters/:id/attributes', { params: { id }, query: force ? { force: 1 } : {}, body })
          : client.call(`PUT /clusters/:id/${path}`, { params, body }));
        for (const body of rest)
          await client.call('PATCH /clusters/:id/orchestrator/deployment', { params, body: unchecked(body) });
        return say(`loaded the ${name} of ${session.textOf('cluster', id)} from ${upload}\n`);
      }
      const data = await client.call(`GET /clusters/:id/${path}`, { params });
      if (download === undefined) {
        const shown = withoutSecretValues(data) as typeof data;
        return printOne(terminal, flags, shown, await yamlText(shown));
      }
      await save(session, String(download), await yamlText(data));
      await say(`saved the ${name} of ${session.textOf('cluster', id)} to ${download}\n`);
    });
  }
}

/** JSON values and bytes of a portion: well below the limits of the API. */
const MAX_VALUES = 200_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** The entries of a list in portions that the API takes; anything else is one. */
export function portionsOf(data: unknown): unknown[] {
  if (!Array.isArray(data)) return [data];
  const portions: unknown[][] = [[]];
  let [values, bytes] = [0, 0];
  for (const entry of data as unknown[]) {
    const size = { values: valuesOf(entry), bytes: JSON.stringify(entry).length };
    if (values > 0 && (values + size.values > MAX_VALUES || bytes + size.bytes > MAX_BYTES)) {
      portions.push([]);
      [values, bytes] = [0, 0];
    }
    portions.at(-1)!.push(entry);
    values += size.values;
    bytes += size.bytes;
  }
  return portions;
}

const valuesOf = (value: unknown): number =>
  value !== null && typeof value === 'object'
    ? Object.values(value).reduce((sum: number, one) => sum + valuesOf(one), 1)
    : 1;

/** `group.name=value` as the API takes changes; a value that is not JSON is text. @throws CliError for other forms */
export function changedSettings(
  texts: readonly string[],
): Readonly<Record<string, Record<string, { value: unknown }>>> {
  const groups = new Map<string, Map<string, { value: unknown }>>();
  for (const text of texts) {
    const [, group, name, value] = /^([^.=\s]+)\.([^=\s]+)=(.*)$/s.exec(text) ?? [];
    if (group === undefined || name === undefined)
      throw usageError(
        `'${text}' is not a setting with a value`,
        'Write GROUP.NAME=VALUE, such as storage.volumes_ceph=true.',
      );
    groups.set(group, (groups.get(group) ?? new Map()).set(name, { value: settingValue(value ?? '') }));
  }
  return Object.fromEntries([...groups].map(([group, settings]) => [group, Object.fromEntries(settings)]));
}

function settingValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Writes a file, relative to the terminal's folder. @throws CliError with its name */
export async function save({ terminal }: Session, file: string, text: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  const { resolve } = await import('node:path');
  // It may hold secrets; a file that exists keeps its mode.
  await writeFile(resolve(terminal.cwd, file), text, { mode: 0o600 }).catch((error: unknown) => {
    throw usageError(`cannot write ${file}: ${(error as Error).message}`, 'Name another file.');
  });
}
