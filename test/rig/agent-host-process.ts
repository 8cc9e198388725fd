import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { NodeAgentOptions } from '../../src/agent/index.ts';
import { builtProgram, supervisorProgram } from './program.ts';

export interface AgentHostOrder {
  readonly address: string;
  readonly nodes: readonly { readonly site: string; readonly node: string }[];
  readonly stateDir: string;
  /** Of `countedOrders`. */
  readonly folder: string;
  readonly version: string;
  readonly supervisor: readonly [string, ...string[]];
  readonly agent?: Partial<NodeAgentOptions>;
}

/**
 * Starts a process that hosts agents; resolves when it polls.
 *
 * @param inside prefix of its command, e.g. to enter a network namespace; must exec it, so that it is killed
 */
export async function startAgentHost(
  order: Omit<AgentHostOrder, 'supervisor'>,
  env: Readonly<Record<string, string>> = {},
  inside: readonly string[] = [],
): Promise<AgentHost> {
  const [node, program] = builtProgram('test/rig/agent-host.ts');
  const full: AgentHostOrder = { ...order, supervisor: supervisorProgram() };
  const [first = node, ...rest] = [...inside, node, program, JSON.stringify(full)];
  const child = spawn(first, rest, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  const ready = (async () => {
    for await (const line of createInterface({ input: child.stdout })) if (line === 'ready') return true;
    return false;
  })();
  if (!(await ready)) throw new Error(`the agent host ended with ${child.exitCode}`);
  return new AgentHost(child);
}

export class AgentHost {
  readonly child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(child: ChildProcess) {
    this.child = child;
    this.#ended = once(child, 'exit');
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.child.kill(signal);
    await this.#ended;
    return this.child.exitCode;
  }

  /** Resolves with its exit code when it ends by itself. */
  async ended(): Promise<number | null> {
    await this.#ended;
    return this.child.exitCode;
  }

  peakRssBytes(): number {
    return peakRssBytes(this.child.pid!);
  }
}

/** The peak memory of a living process. */
export const peakRssBytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
