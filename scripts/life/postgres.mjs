// PostgreSQL as the store of a life that kills it: Debian's, started again whenever it ends, as its service is.
import { execFile } from 'node:child_process';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { start } from './processes.mjs';

const run = promisify(execFile);

/** The server refuses root. */
const AS_POSTGRES = ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--clear-groups', '--pdeathsig', 'QUIT'];

/**
 * @param {string} folder for its files
 * @param {number} port
 * @param {(() => unknown)[]} ends
 * @returns {Promise<string>} address of an empty database
 */
export async function startPostgres(folder, port, ends) {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const [newest] = versions.sort((one, other) => Number(other) - Number(one));
  if (newest === undefined) throw new Error('PostgreSQL is missing, which is to be killed: apt-get install postgresql');
  const bin = `/usr/lib/postgresql/${newest}/bin`;
  const data = join(folder, 'postgres');
  await chmod(folder, 0o711);
  await run('install', ['--directory', '--owner', 'postgres', '--mode', '700', data]);
  const kind = ['--no-sync', '--username=sitewright', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8'];
  await run('setpriv', [...AS_POSTGRES.slice(1), join(bin, 'initdb'), ...kind, '-D', data], { cwd: data });
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${data}`, 'fsync=off'];
  const server = [...AS_POSTGRES, join(bin, 'postgres'), '-D', data, ...settings.flatMap((one) => ['-c', one])];
  // The server that was killed left processes, which end soon; until then the next one does not start.
  const service = start(['bash', '-c', 'while :; do "$@"; sleep 0.5; done', 'service', ...server], { cwd: data });
  ends.push(service.stop);
  await service.said(/ready to accept connections/);
  await run(join(bin, 'createdb'), ['-h', '127.0.0.1', '-p', String(port), '-U', 'sitewright', 'sitewright']);
  return `postgres://sitewright@127.0.0.1:${port}/sitewright`;
}
