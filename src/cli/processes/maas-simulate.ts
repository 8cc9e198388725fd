import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { type Seed, simulateMaas, simulatorKeys } from '../../maas/simulator/index.js';

/** What the command line says; see the options below. */
export interface MaasSimulateFlags {
  readonly port: number;
  readonly host: string;
  readonly state?: string;
  readonly seed?: string;
  readonly auto?: string;
}

/** Runs the MAAS simulator in this process until SIGINT or SIGTERM. */
export async function runMaasSimulator(flags: MaasSimulateFlags): Promise<void> {
  const simulator = await simulateMaas({
    port: flags.port,
    host: flags.host,
    ...(flags.state === undefined ? {} : { stateFile: flags.state }),
    ...(flags.seed === undefined ? {} : { seed: readJson('--seed', readFileSync(flags.seed, 'utf8')) as Seed }),
    ...(flags.auto === undefined ? {} : { auto: readJson('--auto', flags.auto) as Readonly<Record<string, unknown>> }),
  });
  process.stdout.write(
    `MAAS simulator  ${simulator.url}\ncontrols        ${simulator.controlUrl}\nadmin key       ${simulatorKeys.admin}\n`,
  );
  const stop = (): void => {
    void simulator.close();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

function readJson(flag: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${flag} is no JSON: ${(error as Error).message}`);
  }
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('a port is 0 to 65535');
  return port;
}

/** `maas simulate`, to hang into the CLI or to run by itself. */
export function maasSimulateCommand(): Command {
  return new Command('simulate')
    .description('Run a model of MAAS 3.6 on this machine, for demos and tests')
    .option('--port <number>', 'port to listen on; 0 takes a free one', portNumber, 5240)
    .option('--host <address>', 'loopback address to listen on', '127.0.0.1')
    .option('--state <file>', 'keep the region in this file, so that a killed simulator goes on where it was')
    .option('--seed <file>', 'JSON: machines to make at the first start')
    .option(
      '--auto <json>',
      'JSON: what happens by itself, such as {"deploy_ms":3000,"fail_times":{"deploy":{"n002":1}}}',
    )
    .action(async (flags: MaasSimulateFlags) => {
      await runMaasSimulator(flags);
    });
}

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) {
  maasSimulateCommand()
    .parseAsync()
    .catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    });
}
