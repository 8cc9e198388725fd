// The report of a life: steps, their time, the tasks that each ran and left out, the client's findings, and the kills.

/**
 * @typedef {object} Tasks of some runs
 * @property {string[]} ran `task@node`, by the name of the node
 * @property {Map<string, number>} ended how many, by how
 * @property {Map<string, number>} leftOut how many, by why
 *
 * @typedef {object} Step
 * @property {string} name
 * @property {number} seconds
 * @property {string} outcome
 * @property {Tasks} [tasks]
 * @property {{ made: number, failed: number }} [requests] of the client
 */

/** @typedef {import('./system.mjs').System} System */

/** The steps of a life with their times and results. */
export class Report {
  /** @type {Step[]} */
  #steps = [];
  #startedAt = performance.now();
  /** @type {readonly import('./kills.mjs').Kill[]} */
  kills = [];
  /** The newest transaction that a step has reported. */
  #newest = 0;

  /** @param {string} line */
  say = (line) => console.log(`${((performance.now() - this.#startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`);

  /**
   * @template {Omit<Step, 'name' | 'seconds'>} Result
   * @param {string} name
   * @param {() => Promise<Result>} work
   * @returns {Promise<Result>}
   */
  async step(name, work) {
    this.say(`--- ${name}`);
    const from = performance.now();
    const result = await work();
    const step = { name, seconds: Math.round((performance.now() - from) / 1000), ...result };
    this.#steps.push(step);
    this.say(inWords(step).join('; '));
    return result;
  }

  /** Requests of the client that were answered. */
  get answered() {
    return this.#steps.reduce((sum, { requests }) => sum + (requests ? requests.made - requests.failed : 0), 0);
  }

  /**
   * Tasks of the runs since the last call.
   *
   * @param {System} system
   * @returns {Promise<Tasks>}
   */
  async tasksOf(system) {
    /** @type {{ id: number, name: string }[]} */
    const nodes = await system.ask('node', 'list');
    const names = new Map(nodes.map(({ id, name }) => [String(id), name]));
    /** @type {Tasks} */
    const tasks = { ran: [], ended: new Map(), leftOut: new Map() };
    for (const { task_name: task, node_id: node, status, message } of await this.#newTasks(system)) {
      if (status === 'success') tasks.ran.push(`${task}@${names.get(node) ?? node}`);
      if (status !== 'skipped') increase(tasks.ended, status === 'success' ? 'run' : status);
      // Where a condition is false, the reason quotes it.
      else
        increase(
          tasks.leftOut,
          message?.split(/[:$]/)[0]?.trim() ?? (node === '-' ? 'no node of the run has it' : 'no reason'),
        );
    }
    return tasks;
  }

  /**
   * @param {System} system
   * @returns {Promise<{ task_name: string, node_id: string, status: string, message: string | null }[]>}
   */
  async #newTasks(system) {
    /** @type {{ id: number, graph_type: string | null }[]} */
    const transactions = await system.ask('history', 'list');
    const tasks = [];
    for (const { id, graph_type: type } of transactions)
      if (id > this.#newest && type !== null) tasks.push(...(await system.ask('history', 'show', String(id))));
    this.#newest = Math.max(this.#newest, ...transactions.map(({ id }) => id));
    return tasks;
  }

  /**
   * What failed tasks printed.
   *
   * @param {System} system
   */
  async explain(system) {
    for (const { task_name: task, node_id: node, status, message } of await this.#newTasks(system)) {
      if (status !== 'failed') continue;
      this.say(`${task}@${node}: ${message}`);
      const log = await system.shell(`sitewright run logs ${this.#newest} ${task}@${node} | tail -n 20`).catch(String);
      console.log(log);
    }
  }

  print() {
    const total = this.#steps.reduce((sum, { seconds }) => sum + seconds, 0);
    console.log(`\n${'step'.padEnd(40)}time`);
    for (const step of this.#steps) {
      const [first, ...others] = inWords(step);
      console.log(`${step.name.padEnd(40)}${`${step.seconds} s`.padEnd(8)}${first}`);
      for (const line of others) console.log(`${''.padEnd(48)}${line}`);
    }
    console.log(`${'all'.padEnd(40)}${`${total} s`.padEnd(8)}${this.#requests()}`);
    for (const { step, what, after, back, retyped } of this.kills) {
      const [since, end] = [after, back ?? 0].map((ms) => `${(ms / 1000).toFixed(1)} s`);
      const returned = back === null ? 'was not back in the end' : `was back after ${end}`;
      const waited =
        retyped === 0 ? '' : `; a command was typed again ${retyped === 1 ? 'once' : `${retyped} times`} meanwhile`;
      console.log(`killed in step ${step} after ${since}: ${what}, ${returned}${waited}`);
    }
  }

  #requests() {
    const seen = this.#steps.flatMap(({ requests }) => requests ?? []);
    const made = seen.reduce((sum, one) => sum + one.made, 0);
    return `${made} requests, ${made - this.answered} failed`;
  }
}

/**
 * @param {Step} step
 * @returns {string[]}
 */
function inWords({ outcome, tasks, requests }) {
  /** @param {Map<string, number>} counts */
  const listed = (counts) => [...counts].map(([what, count]) => `${count} ${what}`).join(', ');
  const lines = [outcome];
  if (tasks) {
    const reasons = [...tasks.leftOut].map(([why, count]) => `${count} (${why})`);
    const left = reasons.length === 0 ? '' : `; left out: ${reasons.join(', ')}`;
    lines.push(`tasks: ${listed(tasks.ended) || 'none run'}${left}`);
  }
  if (requests) lines.push(`requests: ${requests.made}, failed: ${requests.failed}`);
  return lines;
}

/**
 * @param {Map<string, number>} counts
 * @param {string} key
 */
const increase = (counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1);
