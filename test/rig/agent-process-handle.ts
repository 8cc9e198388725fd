import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Execution } from '../../src/agent/journal/execution.ts';
import type { NodeAgentOptions } from '../../src/agent/node-agent.ts';
import type { AgentRig } from './agent.ts';
import { builtProgram } from './program.ts';

type Line = { readonly kind: string } & Readonly<Record<string, unknown>>;

/** An agent in its own process, and its output so far. */
export class AgentProcess {
  readonly child: ChildProcess;
  readonly lines: Line[] = [];
  #waiting: (() => void)[] = [];
  #isOver = false;

  constructor(rig: AgentRig, execution: Execution, options: Partial<NodeAgentOptions> = {}, recover = false) {
    const order = rig.path(`order-${execution.task}-${Math.random().toString(36).slice(2)}.json`);
    writeFileSync(order, JSON.stringify({ options: rig.options(options), execution, recover }));
    const [program, path] = builtProgram('test/rig/agent-process.ts');
    this.child = spawn(program, [path, order], { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      this.lines.push(JSON.parse(line) as Line);
      this.#wake();
    });
    this.child.once('close', () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** The first matching line, now or later. */
  async said(fits: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const line = this.lines.find(fits);
      if (line !== undefined) return line;
      if (this.#isOver) throw new Error(`the agent ended after ${JSON.stringify(this.lines.slice(-3))}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Sends SIGKILL, and waits for its end. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    while (!this.#isOver) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
