// The detached process that runs one task to completion, even if the agent that started it ends.

import { closeSync, openSync, readFileSync } from 'node:fs';
import { keepMemoryOutOfCoreDumps } from '../../platform/secrets/core-dumps.ts';
import { supervise } from './supervise.ts';
import type { SupervisorMessage } from './supervisor-message.ts';

// The order may contain secrets.
keepMemoryOutOfCoreDumps();
// If the agent is killed while it writes, the order does not parse, and the next agent starts another supervisor.
const order = JSON.parse(readFileSync(0, 'utf8')) as SupervisorMessage;
await supervise(order, () => {
  process.chdir('/');
  // The agent waits for this end of file. Descriptor 1 then points to a harmless file.
  closeSync(1);
  openSync('/dev/null', 'w');
});
// All that counts is in the journal. `process.exit` joins V8's threads and may wait for one that waits for it (nodejs/node#54918): the
// supervisor of a task that wrote a gigabyte stayed for ever.
process.kill(process.pid, 'SIGKILL');
