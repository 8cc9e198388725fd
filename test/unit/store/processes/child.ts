import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A script in a separate process, which speaks JSON, one value a line. */
export class Child {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #errors: Buffer[] = [];

  constructor([node, ...program]: readonly [string, ...string[]], ...parameters: string[]) {
    this.#process = spawn(node, [...program, ...parameters], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process.stderr!.on('data', (chunk: Buffer) => this.#errors.push(chunk));
    this.#lines = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }

  /** The next value the child writes; an error with its own words when it ends instead. */
  async next<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`The child ended:\n${Buffer.concat(this.#errors).toString()}`);
    return JSON.parse(value) as T;
  }

  /** Lets a child that has written its first value, and so is loaded, continue. */
  go(): void {
    this.#process.stdin!.write('go\n');
  }

  /** SIGKILL, which no process can catch. Resolves once it is dead. */
  async kill9(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
