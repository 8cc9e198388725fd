import { InvalidArgumentError, Option } from 'commander';
import type { CliCommand } from '../shell/command.ts';

/** Description and options of `maas simulate`, without the simulator itself: help must not load it. */
export function describeMaasSimulate(command: CliCommand): CliCommand {
  return command
    .description('Run a model of MAAS on this machine, for demos and tests')
    .example('--port 0 --seed machines.json')
    .option('--port <number>', 'port to listen on; 0 picks a free one', portNumber, 5240)
    .option('--host <address>', 'loopback address to listen on', '127.0.0.1')
    .option('--alias <name>', 'another host name that clients may use, behind a forwarder')
    .option(
      '--key-file <file>',
      'keys by chance, the administrator’s in this file (mode 600); default: known keys, unless machines are containers',
    )
    .option('--state <file>', 'keep the region in this file, so that a killed simulator can resume')
    .option('--seed <file>', 'JSON: machines to make at the first start')
    .option(
      '--auto <json>',
      'JSON: what happens automatically, such as {"deploy_ms":3000,"fail_times":{"deploy":{"n002":1}}}',
    )
    .addOption(
      new Option('--maas-version <version>', 'whose answers it gives; all but 3.6 from reading its sources only')
        .choices(['3.6', '3.8', '4.0'])
        .default('3.6'),
    )
    .addOption(
      new Option('--machines <kind>', 'kind of machines: containers boot with cloud-init (Linux, root, podman)')
        .choices(['records', 'containers'])
        .default('records'),
    )
    .option('--machine-packages <names>', 'Debian packages installed in all containers', packageNames, [])
    .option('--machine-archives <names>', 'packages that apt installs there without the network', packageNames, []);
}

function packageNames(text: string): readonly string[] {
  const names = text.split(',').filter((name) => name !== '');
  const wrong = names.filter((name) => !/^[a-z0-9][a-z0-9+.-]*$/.test(name));
  if (wrong.length > 0) throw new InvalidArgumentError(`not names of packages: ${wrong.join(', ')}`);
  return names;
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is 0 to 65535');
  return port;
}
