import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { NodeAgentOptions } from '../../src/agent/index.js';

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

const root = fileURLToPath(new URL('../../', import.meta.url));
const built = new Map<string, string>();

/** One of the project's programs in a single file beside node_modules, where it finds native packages. */
export function buildProgram(source: string): readonly [string, string] {
  let target = built.get(source);
  if (target === undefined) {
    target = `${root}node_modules/.cache/sitewright/programs/${process.pid}/${source.replace(/\W+/g, '-')}.mjs`;
    buildSync({
      entryPoints: [root + source],
      outfile: target,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'error',
    });
    built.set(source, target);
  }
  return [process.execPath, target];
}

export const supervisorProgram = (): readonly [string, string] => buildProgram('src/agent/supervisor-main.ts');

/**
 * Starts a process that hosts agents; resolves when it polls.
 *
 * @param inside put before its command, e.g. to enter a network namespace; must become it (exec), so that it is killed
 */
export async function startAgentHost(
  order: Omit<AgentHostOrder, 'supervisor'>,
  env: Readonly<Record<string, string>> = {},
  inside: readonly string[] = [],
): Promise<AgentHost> {
  const [node, program] = buildProgram('test/rig/agent-host.ts');
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

/** The most memory a living process had at once. */
export const peakRssBytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
