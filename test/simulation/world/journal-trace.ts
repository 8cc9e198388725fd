import type { TraceEvent } from './claim-trace.ts';
import type { Machine, Process } from './machine.ts';

const FILE = /\/runs\/([^/]+\/[^/]+)\/(\d+)\/(execution|claim|cancel|exit)\.json$/;
const FOLDER = /\/runs\/([^/]+\/[^/]+)\/(\d+)$/;

interface Attempt {
  /** The follower that created it, until it has launched a supervisor. */
  follower?: string;
  /** The process that claimed it. */
  owner?: string;
  /** Whether its task has run. */
  hasRun: boolean;
  /** Whether a process has claimed it. */
  isClaimed: boolean;
  /** Names of files that are not synced yet, with who has to do it. */
  readonly unsynced: Map<string, string>;
}

interface Task {
  readonly events: TraceEvent[];
  readonly attempts: Map<number, Attempt>;
  asked: number;
}

/** What happens to the attempts of each task of a node, in the words of test/models/JournalTrace.tla. */
export class JournalTrace {
  readonly #machine: Machine;
  readonly #tasks = new Map<string, Task>();
  /** Of earlier installations of the node: their journals are gone. */
  readonly #past: (readonly TraceEvent[])[] = [];
  readonly #folder: string;
  readonly #violated: (what: string) => void;
  #names = 0;

  /** @param folder of the node's journals */
  constructor(machine: Machine, folder: string, violated: (what: string) => void) {
    this.#violated = violated;
    this.#machine = machine;
    this.#folder = folder;
    machine.observer = {
      linked: (process, path) => this.#linked(process, path),
      synced: (path) => this.#synced(path),
      ended: (process) => this.#ended(process),
      powerLost: () => this.#powerLost(),
    };
  }

  /** One for each task, and for each installation. */
  get traces(): (readonly TraceEvent[])[] {
    return [...this.#past, ...[...this.#tasks.values()].map(({ events }) => events)];
  }

  /** The node has an empty disk: attempts begin anew. */
  reinstalled(): void {
    this.#past.push(...this.traces.slice(this.#past.length));
    this.#tasks.clear();
  }

  #attempt(name: string, generation: number): readonly [Task, Attempt] {
    const task = this.#tasks.get(name) ?? { events: [], attempts: new Map<number, Attempt>(), asked: 0 };
    this.#tasks.set(name, task);
    if (generation > task.asked) {
      task.asked = generation;
      task.events.push({ what: 'ask', g: generation });
    }
    const attempt = task.attempts.get(generation) ?? { hasRun: false, isClaimed: false, unsynced: new Map() };
    task.attempts.set(generation, attempt);
    return [task, attempt];
  }

  #linked(process: Process, path: string): void {
    const [, name = '', number = '', file = ''] = FILE.exec(path) ?? [];
    if (file === '') return;
    const g = Number(number);
    const [task, attempt] = this.#attempt(name, g);
    const { events } = task;
    const x = this.#nameOf(process);
    if (file === 'execution') this.#follow(task, attempt, g, false);
    else if (file === 'cancel') events.push({ what: 'cancel', g });
    else if (file === 'claim') {
      if (attempt.isClaimed)
        this.#violated(`attempt ${g} of ${name} on ${this.#machine.name} is claimed by a second process`);
      attempt.isClaimed = true;
      if (attempt.follower === undefined) this.#follow(task, attempt, g, true);
      events.push({ what: 'launch', f: attempt.follower!, x }, { what: 'claim', x });
      delete attempt.follower;
      attempt.owner = x;
      attempt.unsynced.set('claim', x);
    } else if (attempt.owner !== x) events.push({ what: 'settle', g });
    else {
      const outcome = this.#outcome(path);
      events.push(attempt.hasRun ? { what: 'end', x, outcome } : { what: 'unrun', x }, { what: 'write result', x });
      attempt.unsynced.set('exit', x);
    }
  }

  /** A try of the activity comes to where it creates the execution, or finds it. */
  #follow({ events }: Task, attempt: Attempt, g: number, isThere: boolean): void {
    const f = `f${++this.#names}`;
    attempt.follower = f;
    events.push({ what: 'fetch', f, g }, { what: 'look back', f }, { what: 'write execution', f });
    if (isThere) events.push({ what: 'sync execution', f });
    else attempt.unsynced.set('execution', f);
  }

  #synced(path: string): void {
    const [, name = '', number = ''] = FOLDER.exec(path) ?? [];
    const task = this.#tasks.get(name);
    const attempt = task?.attempts.get(Number(number));
    if (task === undefined || attempt === undefined) return;
    for (const [file, who] of attempt.unsynced) {
      if (file === 'execution') task.events.push({ what: 'sync execution', f: who });
      else if (file === 'claim') task.events.push({ what: 'sync claim', x: who });
      else {
        task.events.push({ what: 'sync result', x: who });
        delete attempt.owner;
      }
    }
    attempt.unsynced.clear();
  }

  /** The command of a task begins: once for each try. */
  started(folder: string): void {
    const [, name = '', number = ''] = FOLDER.exec(folder) ?? [];
    const [{ events }, attempt] = this.#attempt(name, Number(number));
    const x = attempt.owner ?? '?';
    if (attempt.hasRun) events.push({ what: 'again', x });
    else events.push({ what: 'lock', x }, { what: 'start', x });
    attempt.hasRun = true;
  }

  #ended(process: Process): void {
    const x = this.#nameOf(process);
    for (const { events, attempts } of this.#tasks.values())
      for (const attempt of attempts.values()) {
        if (attempt.owner !== x) continue;
        events.push({ what: 'kill', x });
        delete attempt.owner;
        for (const [file, who] of attempt.unsynced) if (who === x) attempt.unsynced.delete(file);
      }
  }

  #powerLost(): void {
    for (const [name, { events, attempts }] of this.#tasks) {
      const left: (readonly [number, string])[] = [];
      for (const [g, attempt] of attempts) {
        for (const file of ['execution', 'claim', 'cancel', 'exit'])
          if (this.#find(name, g, file)) left.push([g, file]);
        delete attempt.owner;
        delete attempt.follower;
        attempt.isClaimed = this.#find(name, g, 'claim');
        attempt.unsynced.clear();
      }
      events.push({ what: 'cut', left: new Set(left) });
    }
  }

  #find(name: string, generation: number, file: string): boolean {
    return this.#machine.disk.find(`${this.#folder}/runs/${name}/${generation}/${file}.json`) !== undefined;
  }

  #outcome(path: string): string {
    const file = this.#machine.disk.file(path, 'open');
    const { outcome } = JSON.parse(file.read(0, file.size).toString()) as { outcome: string };
    return outcome === 'success' || outcome === 'skipped' ? 'success' : 'failed';
  }

  /** Numbers of processes begin again with each boot. */
  #nameOf({ pid, machine }: Process): string {
    return `${machine.bootId} ${pid}`;
  }
}
