import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type Seed, simulateMaas, simulatorKeys } from '../../maas-simulator/index.js';
import { describeMaasSimulate, type MaasSimulateFlags } from '../commands/maas-simulate.js';
import { EXIT } from '../exit-codes.js';
import { CliError, usageError } from '../problem.js';

/** Runs the MAAS simulator in this process until SIGINT or SIGTERM. */
export async function runMaasSimulator(flags: MaasSimulateFlags): Promise<void> {
  const simulator = await simulateMaas({
    port: flags.port,
    host: flags.host,
    ...(flags.state === undefined ? {} : { stateFile: flags.state }),
    ...(flags.seed === undefined ? {} : { seed: readJson('--seed', readSeed(flags.seed)) as Seed }),
    ...(flags.auto === undefined ? {} : { auto: readJson('--auto', flags.auto) as Readonly<Record<string, unknown>> }),
  }).catch((error: unknown) => {
    throw refusal(error, flags);
  });
  process.stdout.write(
    `MAAS simulator  ${simulator.url}\ncontrols        ${simulator.controlUrl}\nadmin key       ${simulatorKeys.admin}\n`,
  );
  await new Promise<void>((stop) => {
    process.once('SIGINT', () => stop());
    process.once('SIGTERM', () => stop());
  });
  await simulator.close();
}

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

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) {
  describeMaasSimulate(new Command('simulate'))
    .action(runMaasSimulator)
    .parseAsync()
    .catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = error instanceof CliError ? error.exitCode : EXIT.unreachable;
    });
}
