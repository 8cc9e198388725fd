import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Execution, executionFolder, executionMark } from '../../src/agent/journal/execution.ts';
import { Journal } from '../../src/agent/journal/journal.ts';
import { executionFolders } from '../../src/agent/journal/open-executions.ts';
import type { TaskResult } from '../../src/agent/journal/result.ts';
import { scratchFolder } from '../../src/agent/journal/settle.ts';
import { NodeAgent, type NodeAgentOptions } from '../../src/agent/node-agent.ts';
import { ownCgroup } from '../../src/agent/supervision/cgroup.ts';
import { contain } from '../../src/agent/supervision/containment.ts';
import { unlessUnreadable } from '../../src/platform/files/durable-file.ts';
import { BOOT_ID_PATH, readProcess } from '../../src/platform/processes/process-identity.ts';
import { supervisorProgram } from './program.ts';

/** One folder for everything an agent of a test has; `tidy` deletes it. */
export class AgentRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'sitewright-agent-'));
  readonly stateDir = join(this.folder, 'state');
  #tasks = 0;

  options(more: Partial<NodeAgentOptions> = {}): NodeAgentOptions {
    return {
      node: '1',
      stateDir: this.stateDir,
      supervisorCommand: supervisorProgram(),
      ...more,
    };
  }

  agent(more: Partial<NodeAgentOptions> = {}): NodeAgent {
    return new NodeAgent(this.options(more));
  }

  /** Processes of an execution, found by their mark. */
  processesOf(execution: Execution) {
    return contain(false, executionMark(executionFolder(this.stateDir, execution))).members();
  }

  /** A path that tasks of this test may use. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** A unique execution. */
  task(type: string, parameters: Record<string, unknown>, more: Partial<Execution> = {}): Execution {
    this.#tasks += 1;
    return { run: 'r', task: `t${this.#tasks}`, node: '1', generation: 1, type, parameters, ...more };
  }

  async run(agent: NodeAgent, execution: Execution): Promise<TaskResult> {
    const answer = await agent.ensure(execution);
    if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer));
    return await agent.result(execution);
  }

  /** Ends all processes that a failed test left running, by the numbers in its own journals, and deletes all folders. */
  tidy(): void {
    const below = (folder: string) => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []);
    // The library's own folder, and those of a process that serves sites.
    const nodes = [this.stateDir, ...below(this.stateDir)].flatMap((folder) => below(join(folder, 'nodes')));
    for (const folder of nodes.flatMap(executionFolders)) {
      const journal = new Journal(folder);
      const claim = unlessUnreadable(() => journal.readClaim());
      const own =
        claim !== undefined && claim.pid !== process.pid && readProcess(claim.pid)?.startTime === claim.startTime;
      if (own && unlessUnreadable(() => journal.readResult()) === undefined) process.kill(claim.pid, 'SIGKILL');
      const containment = contain(ownCgroup() ?? false, executionMark(folder));
      if (containment.members().length > 0) containment.kill();
      containment.close();
      const machine = { bootIdPath: BOOT_ID_PATH, cgroupRoot: false, scratchRoot: '/dev/shm' } as const;
      rmSync(scratchFolder(machine, folder), { recursive: true, force: true });
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Everything a task printed to a stream that is still kept. */
export async function printed(
  agent: NodeAgent,
  execution: Execution,
  stream: 'stdout' | 'stderr' = 'stdout',
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const event of agent.follow(execution))
    if (event.kind === 'output' && event.stream === stream) parts.push(Buffer.from(event.bytes));
  return Buffer.concat(parts);
}

/** All files below a folder with their content, to search everything that was written. */
export function contentsBelow(folder: string): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // A supervisor that is just ending deletes its last temporary file.
    if (entry.isFile() && existsSync(path)) found.set(path, readFileSync(path));
  }
  return found;
}
