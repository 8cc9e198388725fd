// What ran on the machines, from a record that is not Sitewright's: each machine's puppet and bash first write down how they
// were called, into a file of this machine.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PROGRAMS = { puppet: '/usr/bin/puppet', bash: '/bin/bash' };

/**
 * @typedef {object} Witness
 * @property {NodeJS.ProcessEnv} env of the simulator: Podman then puts the witness into each container
 * @property {() => Promise<readonly Execution[]>} executions
 *
 * @typedef {object} Execution a program that was started for a task
 * @property {string} call distinguishes it from all others: node, run, task, attempt and try are in it
 * @property {string} task `task@node`
 * @property {number} transaction
 */

/**
 * @param {string} folder
 * @returns {Promise<Witness>}
 */
export async function placeWitness(folder) {
  const own = join(folder, 'witness');
  await mkdir(join(own, 'record'), { recursive: true });
  const record = join(own, 'record/executions');
  await writeFile(record, '', { mode: 0o666 });
  const volumes = [`${join(own, 'record')}:/var/log/witness`];
  for (const [name, program] of Object.entries(PROGRAMS)) {
    const note = `printf '%s\\n' "$*" >>/var/log/witness/executions`;
    await writeFile(join(own, name), `#!/bin/sh\n${note}\nexec ${program} "$@"\n`, { mode: 0o755 });
    volumes.push(`${join(own, name)}:/usr/local/sbin/${name}:ro`);
  }
  const settings = join(own, 'containers.conf');
  await writeFile(settings, `[containers]\nvolumes = ${JSON.stringify(volumes)}\n`);
  return {
    env: { CONTAINERS_CONF: settings },
    executions: async () => (await readFile(record, 'utf8')).split('\n').flatMap(executionOf),
  };
}

/**
 * The folder of a try is in each call: `nodes/NODE/runs/TRANSACTION.RUN/TASK/ATTEMPT/try-NUMBER/…`.
 *
 * @param {string} line
 * @returns {Execution[]} none for programs that no task started
 */
function executionOf(line) {
  const [call, node, transaction, task] = /\/nodes\/([^/]+)\/runs\/(\d+)[^/]*\/([^/]+)\/\d+\/\S+/.exec(line) ?? [];
  return call === undefined ? [] : [{ call, task: `${task}@${node}`, transaction: Number(transaction) }];
}
