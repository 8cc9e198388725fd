import { connect, createServer, type Server, type Socket } from 'node:net';

/** A cable between a program and a server that a test can cut: open connections stall or die, new ones fail. */
export class TcpProxy {
  readonly address: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Open connections, by their ends at the server. */
  readonly #answers = new Map<Socket, Socket>();
  #isCut = false;
  #isMute = false;

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
      }
      from.pipe(to);
      proxy.#answers.set(to, from);
      to.on('close', () => proxy.#answers.delete(to));
      if (!proxy.#isMute) to.pipe(from);
    });
    return proxy;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Requests get through, answers do not until `restore`. */
  mute(): void {
    this.#isMute = true;
    for (const [to, from] of this.#answers) {
      to.unpipe(from);
      to.pause();
    }
  }

  restore(): void {
    this.#isCut = false;
    if (!this.#isMute) return;
    this.#isMute = false;
    for (const [to, from] of this.#answers) to.pipe(from);
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
