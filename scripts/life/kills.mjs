// Kills processes at random, as power failures and the kernel do: no warning, no clean end.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Processes of the system, by what is in their command lines. */
const PARTS = /** @type {const} */ ([
  ['worker', /\/main\.js\0worker\0/],
  ['api and gateway', /\/main\.js\0api\0/],
  ['temporal', /\0server\0start-dev\0/],
  ['postgresql', /^[^\0]*\/bin\/postgres\0-D\0/],
]);

/**
 * @typedef {object} Kill
 * @property {string} step
 * @property {number} after milliseconds of the step
 * @property {string} what
 * @property {number | null} back milliseconds until it was there again
 * @property {number} retyped commands that were typed again meanwhile
 */

/** Kills one part of a system after the other, and notes when each is there again. */
export class Kills {
  /** @type {Kill[]} */
  done = [];
  #step = '';
  #stepFrom = 0;
  /** @type {Promise<void>} */
  #running = Promise.resolve();
  #isOver = false;
  #folder = '';
  #say;

  /** @param {(line: string) => void} say */
  constructor(say) {
    this.#say = say;
  }

  /** @param {string} step what is under way from now on */
  during(step) {
    this.#step = step;
    this.#stepFrom = performance.now();
  }

  /** A command is typed again, because the API was unreachable. */
  retyped() {
    const last = this.done.at(-1);
    if (last !== undefined) last.retyped += 1;
  }

  /** @param {string} folder of the system: its processes name it */
  start(folder) {
    this.#folder = folder;
    this.#running = this.#killOnAndOn();
  }

  async stop() {
    this.#isOver = true;
    await this.#running;
  }

  async #killOnAndOn() {
    while (!this.#isOver) {
      await this.#pause(5_000 + Math.random() * 10_000);
      if (this.#isOver) return;
      const targets = [...(await this.#processes()), ...(await agents())];
      const target = targets[Math.floor(Math.random() * targets.length)];
      if (target === undefined) continue;
      const at = performance.now();
      /** @type {Kill} */
      const kill = { step: this.#step, after: at - this.#stepFrom, what: target.what, back: null, retyped: 0 };
      if (!(await target.kill())) continue;
      this.#say(`killed: ${target.what}`);
      this.done.push(kill);
      while (!this.#isOver && !(await target.isBack())) await delay(500);
      kill.back = performance.now() - at;
    }
  }

  /** @param {number} ms */
  async #pause(ms) {
    for (const end = performance.now() + ms; !this.#isOver && performance.now() < end; ) await delay(200);
  }

  async #processes() {
    const found = new Map();
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        const part = PARTS.find(([, like]) => like.test(command));
        // Not those of another life on this machine, and not the watchdogs.
        if (part === undefined || command.includes('run-with-parent')) continue;
        if (!`${command}${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes(this.#folder)) continue;
        found.set(part[0], Number(pid));
      } catch {
        // It has ended meanwhile.
      }
    }
    return [...found].map(([what, pid]) => ({
      what,
      kill: async () => {
        try {
          return process.kill(pid, 'SIGKILL');
        } catch {
          return false;
        }
      },
      isBack: async () => (await this.#processes()).some((one) => one.what === what && one.pid !== pid),
      pid,
    }));
  }
}

/** Agents of the machines that have one. */
async function agents() {
  const { stdout } = await run('podman', ['ps', '--filter', 'label=sitewright.simulator', '--format', '{{.Names}}']);
  return stdout
    .split('\n')
    .filter((name) => name !== '')
    .map((name) => {
      const agent = (/** @type {string[]} */ ...command) =>
        run('podman', ['exec', name, 'systemctl', ...command, 'sitewright-agent']).then(
          () => true,
          () => false,
        );
      return {
        what: `agent of ${name.replace('sitewright-', '')}`,
        pid: 0,
        kill: async () => (await agent('is-active')) && (await agent('kill', '--kill-whom=main', '--signal=KILL')),
        isBack: () => agent('is-active'),
      };
    });
}
