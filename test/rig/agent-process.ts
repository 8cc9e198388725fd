// An agent as a separate process, for tests that kill it: ensures the execution, follows it, prints events as JSON lines.
import { readFileSync } from 'node:fs';
import type { Execution } from '../../src/agent/journal/execution.ts';
import { NodeAgent, type NodeAgentOptions } from '../../src/agent/node-agent.ts';

const { options, execution, recover } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as {
  options: NodeAgentOptions;
  execution: Execution;
  recover?: boolean;
};
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const agent = new NodeAgent(options);
if (recover === true) await agent.recover();
const answer = await agent.ensure(execution);
say({ kind: 'ensured', answer: answer.kind });
for await (const event of agent.follow(execution)) {
  if (event.kind === 'output') say({ ...event, bytes: event.bytes.length, rss: process.memoryUsage.rss() });
  else say(event);
}
