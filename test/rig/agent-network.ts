import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { TcpProxy } from './tcp-proxy.ts';

const LINK = fileURLToPath(new URL('lossy-link.pl', import.meta.url));

/** Why a test cannot have its own network here; undefined if it can. */
export function networkMissing(): string | undefined {
  if (process.platform !== 'linux') return 'this is not Linux';
  if (process.getuid?.() !== 0) return 'this is not root';
  if (!existsSync('/dev/net/tun')) return 'there is no /dev/net/tun';
  for (const program of ['ip', 'unshare', 'nsenter', 'perl'])
    if (spawnSync(program, ['-V']).error !== undefined) return `${program} is not installed`;
  const { status, stderr } = spawnSync('unshare', ['--net', 'true']);
  return status === 0 ? undefined : `no network namespace can be made: ${stderr.toString().trim()}`;
}

/** The effect of a cable on packets. */
export interface Weather {
  /** Share of packets that are lost, 0 to 1, in both directions. */
  readonly loss?: number;
  /** Milliseconds a packet takes, in each direction. */
  readonly delayMs?: number;
  /** A direction in which nothing gets through. */
  readonly cut?: 'to-agents' | 'from-agents' | 'both';
}

let networks = 0;

/**
 * A network namespace for agents, joined to this machine by a cable with simulated faults: packets are lost and
 * delayed one by one, below TCP, as netem would (which many kernels do not have).
 */
export class AgentNetwork {
  /** Where programs inside reach the target. */
  readonly address: string;
  /** As a prefix of a command, it runs the command inside. */
  readonly inside: readonly string[];
  readonly #holder: ChildProcess;
  readonly #link: ChildProcess;
  readonly #said: AsyncIterator<string>;
  readonly #proxy: TcpProxy;
  readonly #device: string;

  private constructor(
    holder: ChildProcess,
    link: ChildProcess,
    said: AsyncIterator<string>,
    proxy: TcpProxy,
    device: string,
  ) {
    this.#holder = holder;
    this.#link = link;
    this.#said = said;
    this.#proxy = proxy;
    this.#device = device;
    this.address = proxy.address;
    this.inside = inside(holder);
  }

  /** @param target `host:port` on this machine that programs inside are to reach */
  static async open(target: string, seed = 1): Promise<AgentNetwork> {
    networks += 1;
    const name = `sw${process.pid.toString(36)}${networks}`;
    const [near, far] = [`${name}a`, `${name}b`];
    // Addresses that are set aside for tests of networks; two for each network.
    const block = (process.pid * 16 + networks) % 0x8000;
    const host = (last: number) => `198.${18 + (block >> 14)}.${(block >> 6) & 255}.${((block & 63) << 2) + last}`;
    // Both end with this process, and the namespace and the devices with them.
    const holder = spawn('unshare', ['--net', 'perl', '-e', '$| = 1; print "up\\n"; <STDIN>']);
    const link = spawn('perl', [LINK, near, far, String(seed)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const said = linesOf(link);
    await Promise.all([linesOf(holder).next(), said.next()]);
    const ip = (...args: string[]) => execFileSync('ip', args);
    ip('link', 'set', far, 'netns', String(holder.pid));
    ip('address', 'add', host(1), 'peer', host(2), 'dev', near);
    ip('link', 'set', near, 'up');
    const [enter = '', ...rest] = inside(holder);
    const ipInside = (...args: string[]) => execFileSync(enter, [...rest, 'ip', ...args]);
    ipInside('link', 'set', 'lo', 'up');
    ipInside('address', 'add', host(2), 'peer', host(1), 'dev', far);
    ipInside('link', 'set', far, 'up');
    const proxy = await TcpProxy.open(target, host(1));
    return new AgentNetwork(holder, link, said, proxy, far);
  }

  /** Resolves when the condition holds. */
  async weather({ loss = 0, delayMs = 0, cut }: Weather): Promise<void> {
    const open = (direction: 'to-agents' | 'from-agents') => (cut === direction || cut === 'both' ? 0 : 1);
    this.#link.stdin!.write(`weather ${loss} ${delayMs} ${open('to-agents')} ${open('from-agents')}\n`);
    await this.#said.next();
  }

  /** Takes the agents' network device down, as a pulled cable does, or up again. */
  link(state: 'up' | 'down'): void {
    const [enter = '', ...rest] = this.inside;
    execFileSync(enter, [...rest, 'ip', 'link', 'set', this.#device, state]);
  }

  /** Ends all connections on this side. With a cut cable the agents do not learn of it: theirs stay half open. */
  hangUp(): void {
    this.#proxy.cut();
    this.#proxy.restore();
  }

  /** After everything inside has ended. */
  async close(): Promise<void> {
    await this.#proxy.close();
    this.#link.stdin!.end();
    this.#holder.stdin!.end();
  }
}

const inside = (holder: ChildProcess): readonly string[] => ['nsenter', `--net=/proc/${holder.pid}/ns/net`, '--'];

const linesOf = (child: ChildProcess): AsyncIterator<string> => {
  const lines: Interface = createInterface({ input: child.stdout! });
  return lines[Symbol.asyncIterator]();
};
