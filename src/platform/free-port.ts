import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that systems choose for outgoing connections: one of those could take a port before its server does. */
const [FIRST, COUNT] = [12_000, 20_000];

/** A port of the loopback address that is free at this moment, for a server that must know its port before it starts. */
export const freePort = async (): Promise<number> => (await freePorts(1))[0]!;

/** Such ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  // All are open at the same time, so that they differ.
  const probes = new Map<number, Server>();
  while (probes.size < count) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
      probes.set(port, probe);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  await Promise.all([...probes.values()].map((probe) => once(probe.close(), 'close')));
  return [...probes.keys()];
}
