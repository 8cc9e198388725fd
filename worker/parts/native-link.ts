import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { ConnectionSettings } from '../../src/platform/temporal/connection-options.ts';
import { type Credentialed, RetiredConnections } from '../../src/platform/temporal/follow-credentials.ts';

const ENDED: readonly string[] = ['STOPPED', 'FAILED'];

/** The connection of the workers of a process. Another one can take its place while they run. */
export class NativeLink implements Credentialed {
  readonly #retired = new RetiredConnections();
  #workers: Worker[] = [];
  #current: NativeConnection;

  private constructor(first: NativeConnection) {
    this.#current = first;
  }

  static async connect(options: ConnectionSettings): Promise<NativeLink> {
    return new NativeLink(await NativeConnection.connect(options));
  }

  get connection(): NativeConnection {
    return this.#current;
  }

  async createWorker(options: Omit<WorkerOptions, 'connection'>): Promise<Worker> {
    const connection = this.#current;
    const worker = await Worker.create({ ...options, connection });
    if (connection !== this.#current) worker.connection = this.#current;
    this.#workers = [...this.#workers.filter(isOpen), worker];
    return worker;
  }

  async setApiKey(key: string): Promise<void> {
    await this.#current.setApiKey(key);
  }

  /** Workers continue their work; later reports and polls use the new connection. */
  async reconnect(options: ConnectionSettings): Promise<void> {
    const next = await NativeConnection.connect(options);
    for (const worker of this.#workers.filter(isOpen)) worker.connection = next;
    this.#retired.add(this.#current);
    this.#current = next;
  }

  /** After the workers have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#current.close(), this.#retired.closeAll()]);
  }
}

const isOpen = (worker: Worker): boolean => !ENDED.includes(worker.getState());
