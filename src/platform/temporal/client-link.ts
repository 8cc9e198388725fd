import type { Connection } from '@temporalio/client';
import type { ConnectionSettings } from './connection-options.ts';
import { type Credentialed, RetiredConnections } from './follow-credentials.ts';

/** A client's connection that can be replaced while it is in use. */
export class ClientLink implements Credentialed {
  /** Always the newest connection, as one object that clients can keep. `close` closes those before it, too. */
  readonly connection: Connection;
  readonly #open: (options: ConnectionSettings) => Connection;
  readonly #retired = new RetiredConnections();
  #current: Connection;

  constructor(first: Connection, open: (options: ConnectionSettings) => Connection) {
    this.#open = open;
    this.#current = first;
    this.connection = new Proxy(this.#current, {
      get: (_first, name) => {
        if (name === 'close') return () => this.#close();
        const value: unknown = Reflect.get(this.#current, name);
        return typeof value === 'function' ? value.bind(this.#current) : value;
      },
    });
  }

  setApiKey(key: string): void {
    this.#current.setApiKey(key);
  }

  async reconnect(options: ConnectionSettings): Promise<void> {
    const next = this.#open(options);
    try {
      await next.ensureConnected();
    } catch (error) {
      await next.close();
      throw error;
    }
    this.#retired.add(this.#current);
    this.#current = next;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#current.close(), this.#retired.closeAll()]);
  }
}
