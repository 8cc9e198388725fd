import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type MaasVersion, newKeys, type Seed, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { NoContainers, prepareContainers, type StartMachines } from '@sitewright/maas-simulator/containers';
import { EXIT } from '../src/cli/shell/exit-codes.ts';
import { CliError, usageError } from '../src/cli/shell/problem.ts';
import { given } from '../src/core/data/given.ts';
import { writePrivate } from '../src/platform/files/private-file.ts';
import { cacheFolder } from '../src/platform/temporal/find-server.ts';

/** The flags of `maas simulate`. */
export interface MaasSimulateFlags {
  readonly port: number;
  readonly host: string;
  readonly alias?: string;
  readonly keyFile?: string;
  readonly state?: string;
  readonly seed?: string;
  readonly auto?: string;
  readonly maasVersion: MaasVersion;
  readonly machines: 'records' | 'containers';
  readonly machinePackages: readonly string[];
  readonly machineArchives: readonly string[];
}

/** Runs the MAAS simulator in this process until SIGINT or SIGTERM. */
export async function runMaasSimulator(flags: MaasSimulateFlags): Promise<void> {
  // Before the first step: an interrupted start must end its processes.
  const stopped = new Promise<void>((stop) => {
    process.once('SIGINT', () => stop());
    process.once('SIGTERM', () => stop());
  });
  const startMachines = flags.machines === 'containers' ? await containers(flags) : undefined;
  // Machines that are containers run what they are deployed with, as root. Of a region of records everyone may know the keys.
  const keys = startMachines === undefined && flags.keyFile === undefined ? simulatorKeys : newKeys();
  const simulator = await simulateMaas({
    keys,
    port: flags.port,
    host: flags.host,
    version: flags.maasVersion,
    ...given({ startMachines, alias: flags.alias, stateFile: flags.state }),
    ...(flags.seed === undefined ? {} : { seed: readJson('--seed', readSeed(flags.seed)) as Seed }),
    auto: { ...(startMachines === undefined ? {} : CONTAINERS_PACE), ...automation(flags) },
  }).catch((error: unknown) => {
    throw refusal(error, flags);
  });
  // Before others learn that it is there.
  if (flags.keyFile !== undefined) writePrivate(resolve(flags.keyFile), `${keys.admin}\n`);
  process.stdout.write(
    `MAAS simulator  ${simulator.url}\ncontrols        ${simulator.controlUrl}\nadmin key       ${keys.admin}\n`,
  );
  await stopped;
  await simulator.close();
}

/** Containers take the time that they take; MAAS gives up after half an hour. The rest is quick. */
const CONTAINERS_PACE = {
  commission_ms: 1_000,
  test_ms: 1_000,
  erase_ms: 1_000,
  release_ms: 1_000,
  deploy_ms: 1_800_000,
};

async function containers(flags: MaasSimulateFlags): Promise<StartMachines> {
  if (flags.state !== undefined)
    throw usageError(
      '--state keeps a region for the next start, but containers end with this one: omit one of the two',
    );
  try {
    return await prepareContainers({
      cache: join(cacheFolder(), 'machines'),
      packages: flags.machinePackages,
      archives: flags.machineArchives,
      say: (line) => process.stderr.write(`${line}\n`),
    });
  } catch (error) {
    if (!(error instanceof NoContainers)) throw error;
    throw new CliError(
      {
        code: 'no-containers',
        message: `machines cannot be containers here: ${error.message}`,
        hint: 'Without --machines containers, machines are records only.',
      },
      EXIT.unreachable,
    );
  }
}

const automation = ({ auto }: MaasSimulateFlags): Readonly<Record<string, unknown>> =>
  auto === undefined ? {} : (readJson('--auto', auto) as Readonly<Record<string, unknown>>);

/** The error of an unavailable port, or an invalid state file or seed. */
function refusal(error: unknown, { host, port }: MaasSimulateFlags): CliError {
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
    const hint = 'Choose another with --port; 0 chooses a free one.';
    return new CliError({ code: 'address-in-use', message: `${host}:${port} is in use`, hint }, EXIT.conflict);
  }
  return usageError(error instanceof Error ? error.message : String(error));
}

function readJson(flag: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`${flag} is not JSON: ${(error as Error).message}`);
  }
}

function readSeed(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`--seed: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
