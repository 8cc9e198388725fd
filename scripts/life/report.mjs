// What a life says of itself: steps, their time, and what each of them ran.

/** The steps of a life with their times and results. */
export class Report {
  /** @type {{ step: string, seconds: number, said: string }[]} */
  #steps = [];
  #startedAt = performance.now();
  /** @type {readonly import('./kills.mjs').Kill[]} */
  kills = [];
  /** The newest transaction that a step has reported. */
  #newest = 0;

  /** @param {string} line */
  say = (line) => console.log(`${((performance.now() - this.#startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`);

  /**
   * @template Value
   * @param {string} name
   * @param {() => Promise<{ value: Value, said: string }>} work
   * @returns {Promise<Value>}
   */
  async step(name, work) {
    this.say(`--- ${name}`);
    const from = performance.now();
    const { value, said } = await work();
    const seconds = Math.round((performance.now() - from) / 1000);
    this.#steps.push({ step: name, seconds, said });
    this.say(said);
    return value;
  }

  /**
   * Tasks of the runs since the last call: how many ended how, and why others were left out.
   *
   * @param {import('./system.mjs').System} system
   * @returns {Promise<{ said: string, ran: string[] }>} `ran`: `task@node`, by the name of the node
   */
  async tasksOf(system) {
    /** @type {{ id: number, name: string }[]} */
    const nodes = await system.ask('node', 'list');
    const names = new Map(nodes.map(({ id, name }) => [String(id), name]));
    /** @type {string[]} */
    const ran = [];
    const counts = new Map();
    const add = (/** @type {string} */ key) => counts.set(key, (counts.get(key) ?? 0) + 1);
    for (const task of await this.#newTasks(system)) {
      if (task.status === 'ready') ran.push(`${task.task_name}@${names.get(task.node_id) ?? task.node_id}`);
      if (task.status !== 'skipped') add(task.status === 'ready' ? 'run' : task.status);
      // Where a condition is false, the reason quotes it.
      else add(`left out: ${task.message?.split(/[:$]/)[0]?.trim() ?? 'no reason'}`);
    }
    const said = [...counts].map(([what, count]) => `${count} ${what}`).join(', ') || 'no tasks';
    return { said: `tasks: ${said}`, ran };
  }

  /**
   * @param {import('./system.mjs').System} system
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
   * @param {import('./system.mjs').System} system
   */
  async explain(system) {
    for (const { task_name: task, node_id: node, status, message } of await this.#newTasks(system)) {
      if (status !== 'error') continue;
      this.say(`${task}@${node}: ${message}`);
      const log = await system.shell(`sitewright run logs ${this.#newest} ${task}@${node} | tail -n 20`).catch(String);
      console.log(log);
    }
  }

  print() {
    for (const { step, seconds, said } of this.#steps)
      console.log(`${String(seconds).padStart(5)} s  ${step}: ${said}`);
    for (const { step, what, back } of this.kills) {
      const after = back === null ? 'was not back in the end' : `back after ${(back / 1000).toFixed(1)} s`;
      console.log(`   killed in step ${step}: ${what}, ${after}`);
    }
  }
}
