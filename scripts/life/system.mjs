// Machines and Sitewright as the tutorial starts them, and a shell for its commands.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { explainMissing, findTemporalBinary } from '../../src/platform/temporal/find-server.ts';
import { lastReplacesShell } from './document.mjs';
import { startPostgres } from './postgres.mjs';
import { makeFolder, removeFolder, root, start } from './processes.mjs';
import { placePrograms } from './programs.mjs';
import { placeWitness } from './witness.mjs';

/** This machine in the machines' network: MAAS' gateway there. */
const HOST = '10.76.0.1';

/** Ports that the tutorial names, and those that it leaves to the defaults. */
const PORTS = /\b(?:5240|7233|8000)\b/g;

/** The line of each terminal after which the next may start. */
const READY = { maas: /^admin key\s+(\S+)/, up: /Web page\s+(\S+)/ };

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail).listen(0, () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => done(port));
    });
  });
}

/**
 * @typedef {object} System
 * @property {string} folder where the commands are typed
 * @property {(text: string) => Promise<string>} shell runs commands, as a person would type them; answers what they print
 * @property {(...args: string[]) => Promise<any>} ask `sitewright ARGS -f json`
 * @property {(path: string) => Promise<string>} get the service's answer at its virtual address
 * @property {string} url of the service
 * @property {string} maas address of the simulated MAAS
 * @property {number} since when all this began, in seconds
 * @property {import('./witness.mjs').Witness} witness
 * @property {Map<string, import('./processes.mjs').Running>} terminals
 */

/**
 * @param {import('./document.mjs').Tutorial} tutorial
 * @param {(line: string) => void} say
 * @param {(() => unknown)[]} ends what ends it all, newest last
 * @param {{ kills: import('./kills.mjs').Kills | undefined, without: readonly string[] }} kind
 * @returns {Promise<System>}
 */
export async function startSystem(tutorial, say, ends, { kills, without }) {
  const found = await findTemporalBinary({ report: say });
  if (found.status === 'missing') throw new Error(explainMissing(found));
  const folder = await makeFolder(without);
  ends.push(() => removeFolder(folder));
  ends.push(() => {
    for (const shell of typing) shell.kill('SIGKILL');
  });
  const numbers = new Map();
  for (const port of ['5240', '7233', '8000', 'api', 'gateway', 'store']) numbers.set(port, await freePort());
  const withPorts = (/** @type {string} */ text) => text.replace(PORTS, (port) => numbers.get(port));
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    ...process.env,
    PATH: `${join(folder, 'typed')}:${join(root, 'bin')}:${process.env.PATH}`,
    SITEWRIGHT: join(root, 'bin/sitewright'),
    TEMPORAL_CLI: found.path,
    SITEWRIGHT_API: `http://127.0.0.1:${numbers.get('api')}`,
    SITEWRIGHT_TEMPORAL_ADDRESS: `127.0.0.1:${numbers.get('7233')}`,
    SITEWRIGHT_API_PORT: String(numbers.get('api')),
    SITEWRIGHT_GATEWAY_PORT: String(numbers.get('gateway')),
    NO_COLOR: '1',
  };
  await placePrograms(join(folder, 'typed'), kills !== undefined);
  const since = Math.floor(Date.now() / 1000);
  const witness = await placeWitness(folder);
  if (kills) {
    say('PostgreSQL, as the store');
    env.SITEWRIGHT_STORE_URL = await startPostgres(folder, numbers.get('store'), ends);
  }
  /** @type {System['terminals']} */
  const terminals = new Map();
  for (const [name, text] of tutorial.terminals) {
    say(`terminal ${name}`);
    const terminal = start(['bash', '-euc', lastReplacesShell(withPorts(text))], {
      cwd: folder,
      env: { ...env, ...(name === 'maas' && witness.env) },
    });
    terminals.set(name, terminal);
    ends.push(terminal.stop);
    if (name === 'maas') await terminal.said(READY.maas);
    else if (name === 'up') await terminal.said(READY.up);
    else await listens(numbers.get('8000'), terminal);
  }
  const url = 'http://10.76.0.254/';
  return {
    folder,
    terminals,
    url,
    maas: `http://127.0.0.1:${numbers.get('5240')}`,
    since,
    witness,
    shell: (text) => typed(withPorts(text), { cwd: folder, env }, say, kills),
    ask: async (...args) => {
      const words = [...args, '-f', 'json'].join(' ');
      return JSON.parse(await typed(`sitewright ${words}`, { cwd: folder, env }, () => undefined, kills));
    },
    get: async (path) => {
      const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(60_000) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      return text.trim();
    },
  };
}

/**
 * @param {number} port
 * @param {import('./processes.mjs').Running} terminal
 */
async function listens(port, terminal) {
  let isOver = false;
  void terminal.said(/(?!)/).catch(() => {
    isOver = true;
  });
  while (!isOver) {
    const answers = await new Promise((done) => {
      const socket = connect(port, HOST, () => done(true)).once('error', () => done(false));
      socket.once('connect', () => socket.destroy());
    });
    if (answers) return;
    await delay(100);
  }
  throw new Error(`the terminal ended:\n${terminal.lines().join('\n')}`);
}

/** The longest block takes about three minutes, and several times that while processes are killed. */
const BLOCK_LIMIT_MINUTES = 20;

/** The shells that run commands at the moment. @type {Set<import('node:child_process').ChildProcess>} */
const typing = new Set();

/**
 * Commands in a shell of their own, which ends with this process; each is shown when it starts.
 *
 * @param {string} text
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} where
 * @param {(line: string) => void} say
 * @param {{ retyped: () => void } | undefined} kills
 * @returns {Promise<string>} what they print
 */
function typed(text, where, say, kills) {
  const bash = ['--pdeathsig', 'KILL', 'bash', '-xeuo', 'pipefail', '-c', text];
  const limit = /** @type {const} */ ({ timeout: BLOCK_LIMIT_MINUTES * 60_000, killSignal: 'SIGKILL' });
  const shell = spawn('setpriv', bash, { ...where, ...limit, stdio: ['ignore', 'pipe', 'pipe'] });
  typing.add(shell);
  let output = '';
  shell.stdout.setEncoding('utf8').on('data', (piece) => {
    output += piece;
  });
  /** @type {string[]} */
  const errors = [];
  createInterface(shell.stderr).on('line', (line) => {
    const [, command] = /^\++ (.*)/.exec(line) ?? [];
    if (line === 'typed again') kills?.retyped();
    else if (command === undefined) errors.push(line);
    else if (!/^(?:sleep|cut|grep|cat|\[) ?/.test(command)) say(`$ ${command}`);
  });
  return new Promise((done, fail) =>
    shell.once('close', (code, signal) => {
      typing.delete(shell);
      const how =
        signal === 'SIGKILL' ? `killed, at the latest after ${BLOCK_LIMIT_MINUTES} minutes` : `exit status ${code}`;
      if (code === 0) done(output);
      else fail(new Error(`${how}\n${output.slice(-4000)}\n${errors.join('\n')}`));
    }),
  );
}
