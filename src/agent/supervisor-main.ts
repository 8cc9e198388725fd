// The detached process that runs one task to completion, even if the agent that started it ends.

import { closeSync, openSync, readFileSync } from 'node:fs';
import { given } from '../core/data/given.ts';
import { ownIdentity } from '../platform/processes/process-identity.ts';
import { keepMemoryOutOfCoreDumps } from '../platform/secrets/core-dumps.ts';
import { Journal } from './journal.ts';
import { prepareTask } from './prepare-task.ts';
import { ownReaper } from './reaper.ts';
import { resultWithout } from './settle.ts';
import { Supervision } from './supervision.ts';
import type { SupervisorMessage } from './supervisor-message.ts';

// The order may contain secrets.
keepMemoryOutOfCoreDumps();
// If the agent is killed while it writes, the order does not parse, and the next agent starts another supervisor.
const order = JSON.parse(readFileSync(0, 'utf8')) as SupervisorMessage;
const journal = new Journal(order.folder);
const execution = journal.readExecution();
if (execution === undefined) throw new Error(`${order.folder} contains no execution`);
const identity = ownIdentity(order.machine.bootIdPath);
const reaper = ownReaper();
if (journal.claim({ ...identity, ...given({ reaper }) })) {
  process.chdir('/');
  // The agent waits for this end of file. Descriptor 1 then points to a harmless file.
  closeSync(1);
  openSync('/dev/null', 'w');
  const prepared = prepareTask(execution);
  if (prepared.ok) await new Supervision(order, journal, execution, prepared.task).run();
  // Happens only if agent and supervisor are of different versions.
  else
    journal.writeResult(
      resultWithout(journal, identity.bootId, { kind: 'refused', problems: prepared.problems }, { changed: false }),
    );
}
process.exit(0);
