import { unchecked } from '../client.js';
import type { CliCommand } from '../command.js';
import { type OutputFlags, printOne, yamlText } from '../formats/output.js';
import { idArgument } from '../id-argument.js';
import { usageError } from '../problem.js';
import type { Session } from '../session.js';

const ID = 'id of the cluster';

/** What can be saved to a file and loaded from it: name, path in the API, what it is. */
const DATA = [
  ['settings', 'attributes', 'settings (attributes)'],
  ['facts', 'orchestrator/deployment', 'data that tasks are given, in place of what is worked out'],
  ['network', 'network_configuration/:provider', 'network configuration'],
] as const;

interface DataFlags extends OutputFlags {
  readonly download?: string | true;
  readonly upload?: string;
  readonly reset?: boolean;
  readonly set?: readonly string[];
}

/** Adds `settings`, `facts`, `network` to the `cluster` command: each downloads, uploads, or prints. */
export function registerClusterData(group: CliCommand, session: Session): void {
  const { terminal } = session;
  for (const [name, path, what] of DATA) {
    const command = group
      .command(name)
      .description(`The ${what} of a cluster: printed, saved to a file, or loaded from one`)
      .argument('<id>', ID, idArgument)
      .option('--download <file>', 'save them as YAML')
      .option('--upload <file>', 'load them from a file of YAML or JSON');
    if (name === 'facts') command.option('--reset', 'forget what was loaded');
    if (name === 'settings') command.option('--set <settings...>', 'change some, each as GROUP.NAME=VALUE');
    command.output().action(async (id: string, { download, upload, reset, set, ...flags }: DataFlags) => {
      const say = (text: string) => printOne(terminal, flags, { id: Number(id) }, text);
      const given = [download, upload, reset, set].filter((one) => one !== undefined);
      if (given.length > 1) throw usageError('one thing at a time', 'Say one of what --help lists.');
      const client = await session.client();
      const params = { id, provider: 'neutron' };
      if (set !== undefined) {
        await client.call('PATCH /clusters/:id/attributes', {
          params: { id },
          body: { editable: changedSettings(set) },
        });
        return say(`changed ${set.length === 1 ? 'a setting' : `${set.length} settings`} of cluster ${id}\n`);
      }
      if (reset) {
        await client.call('DELETE /clusters/:id/orchestrator/deployment', { params: { id } });
        return say(`the ${name} of cluster ${id} are worked out again\n`);
      }
      if (upload !== undefined) {
        const { readDataFile } = await import('../data-file.js');
        const body = unchecked(await readDataFile(upload, terminal));
        await client.call(`PUT /clusters/:id/${path}`, { params, body });
        return say(`loaded the ${name} of cluster ${id} from ${upload}\n`);
      }
      const data = await client.call(`GET /clusters/:id/${path}`, { params });
      const text = await yamlText(data);
      if (download === undefined) return printOne(terminal, flags, data, text);
      await save(session, String(download), text);
      await say(`saved the ${name} of cluster ${id} to ${download}\n`);
    });
  }
}

/** `group.name=value` as the API takes changes; a value that is no JSON is text. @throws CliError for other forms */
export function changedSettings(
  texts: readonly string[],
): Readonly<Record<string, Record<string, { value: unknown }>>> {
  const groups = new Map<string, Map<string, { value: unknown }>>();
  for (const text of texts) {
    const [, group, name, value] = /^([^.=\s]+)\.([^=\s]+)=(.*)$/s.exec(text) ?? [];
    if (group === undefined || name === undefined)
      throw usageError(
        `'${text}' is no setting with its value`,
        'Write GROUP.NAME=VALUE, as storage.volumes_ceph=true.',
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

/** Writes a file below the terminal's folder. @throws CliError that names it */
export async function save({ terminal }: Session, file: string, text: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  const { resolve } = await import('node:path');
  await writeFile(resolve(terminal.cwd, file), text).catch((error: unknown) => {
    throw usageError(`cannot write ${file}: ${(error as Error).message}`, 'Name another file.');
  });
}
