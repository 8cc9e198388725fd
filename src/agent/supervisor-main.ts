// The detached process that runs one task to completion, even if the agent that started it ends.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { keepMemoryOutOfCoreDumps } from '../platform/secrets/core-dumps.js';
import { Journal } from './journal.js';
import { prepareTask } from './prepare-task.js';
import { ownIdentity } from './process-identity.js';
import { ownReaper } from './reaper.js';
import { resultWithout } from './settle.js';
import { Supervision } from './supervision.js';
import type { SupervisorOrder } from './supervisor-order.js';

// The order may contain secrets.
keepMemoryOutOfCoreDumps();
// If the agent is killed while it writes, the order does not parse, and the next agent starts another supervisor.
const order = JSON.parse(readFileSync(0, 'utf8')) as SupervisorOrder;
const journal = new Journal(order.folder);
const execution = journal.readExecution();
if (execution === undefined) throw new Error(`${order.folder} contains no execution`);
const identity = ownIdentity(order.machine.bootIdPath);
const reaper = ownReaper();
if (journal.claim({ ...identity, ...(reaper === undefined ? {} : { reaper }) })) {
  process.chdir('/');
  // The agent waits for this end of file. Descriptor 1 then points to a harmless file.
  closeSync(1);
  openSync('/dev/null', 'w');
  const prepared = prepareTask(execution);
  if (prepared.ok) await new Supervision(order, journal, execution, prepared.task).run();
  // Happens only if agent and supervisor are of different versions.
  else
    journal.writeResult(
      resultWithout(journal, identity.bootId, { kind: 'rejected', problems: prepared.problems }, { changed: false }),
    );
}
process.exit(0);
