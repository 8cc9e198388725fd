import { execFile, spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../src/platform/free-port.ts';
import type { ComposeFile, ComposeService } from './compose-file.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WATCHDOG = join(ROOT, 'src/platform/processes/run-with-parent.ts');
const BIN = join(ROOT, 'bin', 'sitewright');

/** Ports inside the containers that our own services listen on. */
const OWN_PORTS = ['8080', '8443', '5240', '5241', '9464'];

/** Services of a Compose file as processes of this machine: same command, environment and health check. */
export class ComposeProcesses {
  readonly #compose: ComposeFile;
  readonly #folder: string;
  readonly #ports: ReadonlyMap<string, string>;
  readonly #stops: (() => Promise<void>)[] = [];
  /** Of an admin, once `signIn` was called. */
  #token: string | undefined;

  private constructor(compose: ComposeFile, folder: string, ports: ReadonlyMap<string, string>) {
    this.#compose = compose;
    this.#folder = folder;
    this.#ports = ports;
  }

  /** @param ports where the services of others really are: `{'5432': 40123, '7233': 40124}` */
  static async in(compose: ComposeFile, folder: string, ports: Readonly<Record<string, number>>) {
    const all = new Map(Object.entries(ports).map(([inside, here]) => [inside, String(here)]));
    for (const inside of OWN_PORTS) all.set(inside, String(await freePort()));
    return new ComposeProcesses(compose, folder, all);
  }

  /** The local port for a port inside the containers. */
  port(inside: string): string {
    const here = this.#ports.get(inside);
    if (here === undefined) throw new Error(`no service listens on ${inside}`);
    return here;
  }

  /** A text of the file, adapted: without containers, all hosts are this one. */
  #here(text: string): string {
    const hosts = Object.keys(this.#compose.services).join('|');
    return text
      .replace(/\b\d{4}\b/g, (port) => this.#ports.get(port) ?? port)
      .replace(new RegExp(`(?<=//|@|^)(?:${hosts})(?=:\\d)`, 'g'), '127.0.0.1')
      .replaceAll('0.0.0.0', '127.0.0.1')
      .replaceAll('/var/lib/sitewright', join(this.#folder, 'var'));
  }

  #environment(service: ComposeService): NodeJS.ProcessEnv {
    const own = Object.entries(service.environment ?? {}).map(([name, value]) => [name, this.#here(String(value))]);
    return {
      PATH: process.env.PATH,
      HOME: this.#folder,
      NO_COLOR: '1',
      LISTEN_ADDRESS: '127.0.0.1',
      ...Object.fromEntries(own),
    };
  }

  /** Starts a service and resolves once its health check passes. */
  async start(name: string): Promise<void> {
    const service = this.#service(name);
    await mkdir(join(this.#folder, 'var', 'maas'), { recursive: true });
    const log = await open(join(this.#folder, `${name}.log`), 'a');
    const entrypoint = service.entrypoint?.slice(1) ?? [BIN];
    const words = [...entrypoint, ...(service.command ?? [])].map((word) => this.#here(word));
    const child = spawn(process.execPath, [WATCHDOG, '10000', process.execPath, ...words], {
      cwd: ROOT,
      env: this.#environment(service),
      stdio: ['pipe', 'ignore', log.fd],
    });
    await log.close();
    const ended = new Promise<void>((done) => child.once('exit', () => done()));
    this.#stops.push(async () => {
      child.stdin?.end();
      await ended;
    });
    const deadline = performance.now() + 200_000;
    for (;;) {
      const verdict = await this.health(name);
      if (verdict === 'healthy') return;
      if (child.exitCode === null && performance.now() < deadline) {
        // A check is a process, which would take its time from the starting service.
        await delay(250);
        continue;
      }
      throw new Error(`${name} is not healthy: ${verdict}\n${(await this.log(name)).slice(-4_000)}`);
    }
  }

  /** `healthy`, or the output of its health check. */
  async health(name: string): Promise<string> {
    const service = this.#service(name);
    const [, program, ...words] = service.healthcheck!.test.map((word) => this.#here(word));
    if (program !== 'node') throw new Error(`the health check of ${name} is not ours`);
    return run(process.execPath, words, { cwd: ROOT, env: this.#environment(service) }).then(
      () => 'healthy',
      (error: { stderr: string }) => error.stderr.trim(),
    );
  }

  log(name: string): Promise<string> {
    return readFile(join(this.#folder, `${name}.log`), 'utf8');
  }

  /** `docker compose exec api sitewright …`: the command line next to the API, with the API's environment. */
  async sitewright(...args: readonly string[]): Promise<string> {
    const token = this.#token === undefined ? {} : { SITEWRIGHT_TOKEN: this.#token };
    const env = { ...this.#environment(this.#service('api')), USER: 'ann', ...token };
    try {
      return (await run(process.execPath, [BIN, ...args], { cwd: ROOT, env })).stdout;
    } catch (error) {
      const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: number };
      throw new Error(`sitewright ${args.join(' ')} ended with ${code}\n${stdout}${stderr}`);
    }
  }

  /** Creates the first token, and sends it from now on. */
  async signIn(): Promise<string> {
    this.#token = (await this.sitewright('token', 'bootstrap')).trim();
    return this.#token;
  }

  /** In the reverse order of their start. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.reverse()) await stop();
  }

  #service(name: string): ComposeService {
    const service = this.#compose.services[name];
    if (service === undefined) throw new Error(`there is no service ${name}`);
    return service;
  }
}
