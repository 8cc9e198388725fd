import { connect, createServer, type Server, type Socket } from 'node:net';

/** A cable between a program and a server that a test can cut: open connections go silent or die, new ones fail. */
export class TcpProxy {
  readonly address: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server, address: string) {
    this.#server = server;
    this.address = address;
  }

  /** @param at the address of this machine that it listens on */
  static async open(target: string, at = '127.0.0.1'): Promise<TcpProxy> {
    const [host = '', port = ''] = target.split(':');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, at, resolve));
    const proxy = new TcpProxy(server, `${at}:${(server.address() as { port: number }).port}`);
    server.on('connection', (from) => {
      if (proxy.#isCut) {
        from.destroy();
        return;
      }
      const to = connect(Number(port), host);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        proxy.#sockets.add(one);
        one.on('error', () => one.destroy());
        one.on('close', () => {
          proxy.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    return proxy;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
