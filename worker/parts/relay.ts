import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

/** `host:port` */
type Address = string;

/**
 * Passes connections to `from` on to `to`, such as those of nodes to a server that listens on the loopback address only.
 *
 * @throws Error of the system where it cannot listen
 * @returns stops it, and ends its connections
 */
export async function relay(from: Address, to: Address): Promise<() => Promise<void>> {
  const open = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    const upstream = connect(portOf(to), hostOf(to));
    open.add(socket);
    pipeline(socket, upstream, socket, () => open.delete(socket));
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail).listen(portOf(from), hostOf(from), done);
  });
  return () =>
    new Promise((done) => {
      server.close(() => done());
      for (const socket of open) socket.destroy();
    });
}

const portOf = (address: Address): number => Number(address.slice(address.lastIndexOf(':') + 1));
const hostOf = (address: Address): string => address.slice(0, address.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
