import { Option } from 'commander';
import type { CliCommand } from '../shell/command.ts';
import type { YaqlCommandPorts } from './yaql-eval.ts';

interface EvalFlags {
  readonly data?: string;
  readonly old?: string;
  readonly node?: string;
  readonly batch?: string;
  readonly cluster?: string;
}

/** Adds `yaql eval`, `yaql console` and `yaql functions`. The engine is loaded only when one of them runs. */
export function registerYaql(program: CliCommand, ports: YaqlCommandPorts): void {
  const yaql = program.verb('yaql', 'evaluate YAQL, the language of computed task fields');

  states(
    yaql
      .verb('eval [expression]', 'evaluate an expression, or a file of them, and print the value as JSON')
      .example("'$.a + 1' --data data.yaml")
      .example("'$.roles' --cluster lab --node node-1")
      .option('--batch <file>', 'evaluate records from a JSON-lines file; print {id, result} or {id, error} a line'),
  ).action(async (expression: string | undefined, flags: EvalFlags) => {
    const { runEval } = await import('./yaql-eval.ts');
    process.exitCode = await runEval(expression, flags, ports);
  });

  states(
    yaql.verb('console', 'evaluate expressions as you type them, with history and completion').example('--cluster lab'),
  ).action(async (flags: EvalFlags) => {
    const { runConsole } = await import('./yaql-console.ts');
    process.exitCode = await runConsole(flags, ports);
  });

  yaql
    .verb('functions [name]', 'print the documentation of all functions or of one, with the helpers of yaql.helpers')
    .example('groupBy')
    .option('--markdown', 'print the Markdown of docs/reference/yaql.md')
    .action(async (name: string | undefined, flags: { markdown?: boolean }) => {
      const { runFunctions } = await import('./yaql-functions.ts');
      const helpers = flags.markdown ? [] : ((await ports.loadHelpers?.()) ?? []);
      process.exitCode = runFunctions(ports.terminal, name, flags.markdown ?? false, helpers);
    });
}

const states = (command: CliCommand): CliCommand =>
  command
    .option('--data <file>', 'JSON or YAML file: the data `$`, or with --node the common part of it')
    .option('--old <file>', 'JSON or YAML file: the data of the last run, for changed(), old() …')
    .option(
      '--node <file>',
      "JSON or YAML file: the node's part of the data; `$` is the union of both. With --cluster: id of a node of it",
    )
    .inFuelsWords(new Option('--cluster <id>', 'use both states of this cluster'), '-e, --env <id>');
