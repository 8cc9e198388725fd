import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { freePort } from '../../src/platform/free-port.ts';
import { endUp, isUp, spawnUp } from './running-up.ts';
import { type TemporalRig, temporalRig } from './temporal.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A clone with a system of its own, and a terminal in it: what a newcomer copies from a page runs there. */
export class NewcomersClone {
  readonly folder = mkdtempSync(join(tmpdir(), 'sitewright-first-'));
  readonly #rig: TemporalRig;
  readonly #env: NodeJS.ProcessEnv;
  /** Each in a process group of its own, so that the agents it leaves behind can be ended with it. */
  readonly #shells: ChildProcess[] = [];
  #system: ChildProcess | undefined;

  private constructor(rig: TemporalRig, port: number) {
    this.#rig = rig;
    for (const name of ['bin', 'examples']) symlinkSync(join(root, name), join(this.folder, name));
    this.#env = {
      ...process.env,
      NO_COLOR: '1',
      SITEWRIGHT_TEMPORAL_ADDRESS: rig.address,
      SITEWRIGHT_TEMPORAL_NAMESPACE: rig.namespace,
      SITEWRIGHT_API_PORT: String(port),
      SITEWRIGHT_API: `http://127.0.0.1:${port}`,
      SITEWRIGHT_AGENT_STATE_DIR: join(this.folder, 'master'),
    };
  }

  static async make(): Promise<NewcomersClone> {
    await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: root });
    return new NewcomersClone(await temporalRig({ namespace: 'own' }), await freePort());
  }

  /** Starts a system as on the page, beside a Temporal server of the test; what it says until it is ready. */
  async up(options: readonly string[], settings: NodeJS.ProcessEnv = {}): Promise<string> {
    this.#system = spawnUp('bin/sitewright', this.folder, { ...this.#env, ...settings }, options);
    return isUp(this.#system);
  }

  /** Runs a block as it is copied from the page, until its first failure. Its background processes keep running. */
  async shell(block: string): Promise<string> {
    const child = spawn('bash', ['-ec', block], {
      cwd: this.folder,
      env: this.#env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#shells.push(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        said += text;
      });
    const [code] = await once(child, 'close');
    expect(code, `${block}\n${said}`).toBe(0);
    return said;
  }

  async close(): Promise<void> {
    for (const { pid } of this.#shells) {
      try {
        process.kill(-pid!, 'SIGTERM');
      } catch {
        // Nothing of it is left.
      }
    }
    await endUp(this.#system);
    await this.#rig.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
