import { join } from 'node:path';
import { folderName } from '../../src/agent/index.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { CliError } from '../../src/cli/problem.ts';
import { withLock } from '../../src/platform/processes/lock.ts';
import { openStateFolder } from './state-folder.ts';

interface NodeOfSite {
  readonly site: string;
  readonly node: string;
}

/**
 * Works as the agent of nodes while no other process of this machine is the agent of one of them: two would write one
 * journal. The lock of an agent that died is taken over.
 *
 * @throws CliError naming the process that has a node
 */
export async function withNodeFolders<T>(
  folder: string,
  nodes: readonly NodeOfSite[],
  work: () => Promise<T>,
): Promise<T> {
  openStateFolder(folder);
  const [first, ...others] = nodes;
  if (first === undefined) return work();
  const { site, node } = first;
  const lock = join(folder, folderName(site), `${folderName(node)}.lock`);
  return withLock(lock, () => withNodeFolders(folder, others, work), {
    onWait: (holder) => {
      const who = holder > 0 ? ` (process ${holder})` : '';
      throw new CliError(
        {
          code: 'agent-running',
          message: `another agent of node ${node} of site ${site}${who} keeps its journal in ${folder}`,
          hint: `Stop it ('sitewright agent drain --site ${site} --node ${node}' lets its tasks end), or give this one a folder of its own with --state-dir. If that process is another program, delete ${lock}.`,
        },
        EXIT.conflict,
      );
    },
  });
}
