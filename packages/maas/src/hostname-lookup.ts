import type { MaasClient } from './client.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Machine } from './machine.ts';

interface Question {
  readonly names: readonly string[];
  readonly answer: (machines: readonly Machine[]) => void;
  readonly fail: (error: unknown) => void;
}

/** Whether a machine has this name: its hostname, or its full name. */
export function isNamed({ hostname, fqdn }: Pick<Machine, 'hostname' | 'fqdn'>, name: string): boolean {
  const wanted = name.trim().toLowerCase();
  return hostname.toLowerCase() === wanted || fqdn.toLowerCase() === wanted;
}

/**
 * Looks machines up by hostname. Look-ups within a few milliseconds are
 * combined in one list request (100 names each): a site of 500 nodes starts with five reads, not 500.
 */
export class HostnameLookup {
  readonly #client: MaasClient;
  readonly #clock: Clock;
  readonly #gatherMs: number;
  #waiting: Question[] = [];

  constructor(client: MaasClient, options: { readonly clock?: Clock; readonly gatherMs?: number } = {}) {
    this.#client = client;
    this.#clock = options.clock ?? systemClock;
    this.#gatherMs = options.gatherMs ?? 20;
  }

  /**
   * All machines with the name, in any domain: by hostname, or by full name when it has dots.
   * Rejects with the signal's reason when aborted, or with `MaasError`.
   */
  find(name: string, signal?: AbortSignal): Promise<readonly Machine[]> {
    const wanted = name.trim().toLowerCase();
    if (wanted === '') return Promise.resolve([]);
    const first = wanted.split('.')[0] ?? wanted;
    // MAAS' hostnames have no dots, but some versions accept a full name in this filter.
    const names = first === wanted || first === '' ? [wanted] : [first, wanted];
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = () => {
        this.#waiting = this.#waiting.filter((other) => other !== question);
        reject(signal?.reason as Error);
      };
      const question: Question = {
        names,
        answer: (machines) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(machines.filter((machine) => isNamed(machine, wanted)));
        },
        fail: (error) => {
          signal?.removeEventListener('abort', onAbort);
          reject(error as Error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(question);
      if (this.#waiting.length === 1) void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    await this.#clock.sleep(this.#gatherMs);
    const questions = this.#waiting;
    this.#waiting = [];
    if (questions.length === 0) return;
    try {
      const hostnames = [...new Set(questions.flatMap((question) => question.names))];
      const machines = await this.#client.machines.list({ hostnames });
      for (const question of questions) question.answer(machines);
    } catch (error) {
      for (const question of questions) question.fail(error);
    }
  }
}
