import { join } from 'node:path';
import { folderName } from '../../src/agent/index.ts';
import { EXIT } from '../../src/cli/shell/exit-codes.ts';
import { CliError } from '../../src/cli/shell/problem.ts';
import { holdLock } from '../../src/platform/processes/lock.ts';
import { openStateFolder } from './state-folder.ts';

interface NodeOfSite {
  readonly site: string;
  readonly node: string;
}

/**
 * Makes this process the agent of nodes while no other process of this machine is the agent of one of them: two would
 * write one journal. The lock of an agent that died is taken over.
 *
 * @returns lets another process be their agent
 * @throws CliError naming the process that has a node
 */
export async function holdNodeFolders(folder: string, nodes: readonly NodeOfSite[]): Promise<() => Promise<void>> {
  openStateFolder(folder);
  const held: (() => Promise<void>)[] = [];
  const release = async (): Promise<void> => void (await Promise.all(held.map((one) => one())));
  try {
    for (const { site, node } of nodes) held.push(await holdFolder(folder, site, node));
  } catch (error) {
    await release();
    throw error;
  }
  return release;
}

function holdFolder(folder: string, site: string, node: string): Promise<() => Promise<void>> {
  const lock = join(folder, folderName(site), `${folderName(node)}.lock`);
  return holdLock(lock, {
    onWait: (holder) => {
      const who = holder > 0 ? ` (process ${holder})` : '';
      throw new CliError(
        {
          code: 'agent-running',
          message: `another agent of node ${node} of site ${site}${who} keeps its journal in ${folder}`,
          hint: `Stop it ('sitewright agent drain --site ${site} --node ${node}' lets its tasks end), or give this one a folder of its own: --state-dir of agent run, or SITEWRIGHT_AGENT_STATE_DIR. If that process is another program, delete ${lock}.`,
        },
        EXIT.conflict,
      );
    },
  });
}
