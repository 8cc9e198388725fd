import { given } from '../../core/data/given.ts';
import { ownIdentity } from '../../platform/processes/process-identity.ts';
import { Journal } from '../journal/journal.ts';
import { resultWithout } from '../journal/settle.ts';
import { prepareTask } from '../task-types/prepare-task.ts';
import { ownReaper } from './reaper.ts';
import { Supervision } from './supervision.ts';
import type { SupervisorMessage } from './supervisor-message.ts';

/**
 * Runs the execution of an order to its end, as its supervisor, unless another process has claimed it.
 *
 * @param claimed called when it is claimed
 */
export async function supervise(order: SupervisorMessage, claimed: () => void): Promise<void> {
  const journal = new Journal(order.folder);
  const execution = journal.readExecution();
  if (execution === undefined) throw new Error(`${order.folder} contains no execution`);
  const identity = ownIdentity(order.machine.bootIdPath);
  const reaper = ownReaper();
  if (!journal.claim({ ...identity, ...given({ reaper }) })) return;
  claimed();
  const prepared = prepareTask(execution);
  if (prepared.ok) await new Supervision(order, journal, execution, prepared.task).run();
  // Happens only if agent and supervisor are of different versions.
  else
    journal.writeResult(
      resultWithout(journal, identity.bootId, { kind: 'refused', problems: prepared.problems }, { changed: false }),
    );
}
