import type { Command } from 'commander';
import { apiPath } from '../client.js';
import { idArgument } from '../id-argument.js';
import { usageError } from '../problem.js';
import type { Session } from '../session.js';

const ID = 'id of the cluster';

/** What can be saved to a file and loaded from it: name, path in the API, what it is. */
const DATA = [
  ['settings', 'attributes', 'settings (attributes)'],
  ['facts', 'orchestrator/deployment', 'data that tasks are given, in place of what is worked out'],
  ['network', 'network_configuration/neutron', 'network configuration'],
] as const;

interface DataFlags {
  readonly download?: string | true;
  readonly upload?: string;
  readonly reset?: boolean;
}

/** Adds `settings`, `facts`, `network` to the `cluster` command: each downloads, uploads, or prints. */
export function registerClusterData(group: Command, session: Session): void {
  const { terminal } = session;
  for (const [name, path, what] of DATA) {
    const command = group
      .command(name)
      .description(`The ${what} of a cluster: printed, saved to a file, or loaded from one`)
      .argument('<id>', ID, idArgument)
      .option('--download <file>', 'save them as YAML')
      .option('--upload <file>', 'load them from a file of YAML or JSON');
    if (name === 'facts') command.option('--reset', 'forget what was loaded');
    command.action(async (id: string, { download, upload, reset }: DataFlags) => {
      const given = [download, upload, reset].filter((one) => one !== undefined);
      if (given.length > 1) throw usageError('one thing at a time', 'Give --download, --upload or --reset.');
      const client = await session.client();
      const at = apiPath`/clusters/${id}/` + path;
      if (reset) {
        await client.request('DELETE', at);
        return terminal.out(`the ${name} of cluster ${id} are worked out again\n`);
      }
      if (upload !== undefined) {
        const { readDataFile } = await import('../data-file.js');
        await client.request('PUT', at, { body: await readDataFile(upload, terminal) });
        return terminal.out(`loaded the ${name} of cluster ${id} from ${upload}\n`);
      }
      const { dump } = await import('js-yaml');
      const text = dump(await client.request<unknown>('GET', at), { noRefs: true });
      if (download === undefined) return terminal.out(text);
      await save(session, String(download), text);
      terminal.out(`saved the ${name} of cluster ${id} to ${download}\n`);
    });
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
