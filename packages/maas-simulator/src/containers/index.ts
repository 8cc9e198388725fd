import type { Region } from '../region.ts';
import { removeLeftovers, watchForOwnEnd } from './leftovers.ts';
import { MachineContainers, podmanEnds, type ReportEvent } from './machine-containers.ts';
import { type ImageContent, machineImage, whyNoContainers } from './machine-image.ts';
import { CommandFailed, podmanBy, runCommand } from './podman.ts';
import { processName } from './process-name.ts';

export { processName, removeAbandoned } from './process-name.ts';
export { runAfterUs } from './run-after-us.ts';

interface MachineContainersOptions extends ImageContent {
  /** The root file systems are kept in this folder. */
  readonly cache: string;
  readonly say: (line: string) => void;
}

/** This machine cannot have containers; the message has the reason. */
export class NoContainers extends Error {
  override readonly name = 'NoContainers';
}

/** Makes the machines of a region containers of this machine. */
export type StartMachines = (region: Region, report: ReportEvent) => Promise<MachineContainers>;

/**
 * Prepares containers as machines: removes remains of a killed simulator, and builds the image.
 *
 * @throws NoContainers where this machine cannot have them
 */
export async function prepareContainers({ cache, say, ...content }: MachineContainersOptions): Promise<StartMachines> {
  const why = await whyNoContainers(runCommand);
  if (why !== undefined) throw new NoContainers(why);
  const podman = podmanBy(runCommand);
  const owner = processName(process.pid);
  if (owner === undefined) throw new NoContainers('/proc cannot be read');
  try {
    for (const gone of await removeLeftovers(podman))
      say(`removed the machines of process ${gone.split('-')[0]}, which has ended`);
    const image = await machineImage(runCommand, podman, cache, content, say);
    return async (region, report) => {
      watchForOwnEnd(owner);
      const containers = new MachineContainers(region, report, {
        run: runCommand,
        image,
        owner,
        watchEnds: podmanEnds,
        say,
      });
      try {
        await containers.start();
      } catch (error) {
        await containers.close();
        throw error;
      }
      return containers;
    };
  } catch (error) {
    if (error instanceof CommandFailed) throw new NoContainers(error.message, { cause: error });
    throw error;
  }
}
