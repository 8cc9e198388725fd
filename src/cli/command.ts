import { Command, Option } from 'commander';
import { columnOption, formatOption } from './formats/output.ts';
import { wholeNumber } from './id-argument.ts';

/** A command. Options shared by several commands are defined here once. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** A command of this one. */
  verb(name: string, description: string): CliCommand {
    return this.command(name).description(description);
  }

  /** `-f` and `-c`, for every command that prints data with `printOne` or `printList`. */
  output(): this {
    return this.addOption(formatOption()).addOption(columnOption());
  }

  /** `-f json|yaml`, for commands that read or write a data file. */
  fileFormat(): this {
    return this.addOption(
      new Option('-f, --format <format>', 'format of the file').choices(['json', 'yaml']).default('yaml'),
    );
  }

  /** `-f`, for commands with their own text or drawing formats; the first is the default. */
  forms(forms: readonly string[], description = 'how to show it'): this {
    return this.addOption(new Option('-f, --format <format>', description).choices(forms).default(forms[0]));
  }

  /** A repeatable flag; its value is a list. `known`: the values that a shell offers; the API decides about others. */
  repeatable(flags: string, description: string, known?: readonly string[]): this {
    const option = new Option(flags, `${description}; repeatable`);
    if (known !== undefined) option.choices(known);
    return this.addOption(option.argParser((value: string, before?: readonly string[]) => [...(before ?? []), value]));
  }

  /** `--label NAME:VALUE`, repeatable; `labelsOf` reads it. */
  labels(description: string): this {
    return this.repeatable('--label <name:value>', description);
  }

  /** Title, description and labels of the started run; `descriptionOf` reads them. */
  describesRun(): this {
    return this.option('--title <text>', 'one line shown in lists of runs')
      .option('--description <text>', 'any text about the run, as Markdown')
      .labels('a label for finding the run');
  }

  /** `--wait` and `--watch` for a run, and the output options. */
  follows(): this {
    return this.option('--wait', 'wait until the run ends; the exit code is its outcome')
      .option('--watch', 'like --wait, with a line for each change')
      .output();
  }

  /** Options of a command that starts a run: reason, description, labels, following. */
  startsRun(): this {
    return this.reason().describesRun().follows();
  }

  /** `--dry-run` and `--noop`, for runs of graphs that change nothing. */
  dryRuns(): this {
    return this.addOption(
      new Option('--dry-run', 'plan and check everything, but run nothing').conflicts('noop'),
    ).option('--noop', 'run every task in no-op mode: report what it would change, change nothing');
  }

  /** `--dry-run`, `--noop`, `--force`, `--trace`. */
  graphRun(): this {
    return this.dryRuns()
      .option('--force', 'as if nothing had run before: every condition on changes is true')
      .option('--trace', 'run tasks with more detailed output');
  }

  /** `--hold-before`, repeatable. */
  holds(description: string): this {
    return this.repeatable('--hold-before <name>', description);
  }

  reason(kept = 'kept with the run'): this {
    return this.option('--reason <text>', `why; ${kept}`);
  }

  /** `--yes`, for commands that ask for confirmation; `confirm` reads it. */
  asks(): this {
    return this.option('-y, --yes', 'do not ask');
  }

  limit(): this {
    return this.option('-n, --limit <number>', 'maximum number to show', wholeNumber);
  }

  /** `--site` and `--node`, the name of an agent. */
  nodeOfSite(): this {
    return this.requiredOption('--site <site>', 'site, or cluster-<id>').requiredOption(
      '--node <node>',
      'name of the node',
    );
  }

  /** Options of an ssh connection, except its address. */
  ssh(): this {
    return this.option('--port <port>', 'port of its sshd')
      .option('--identity-file <file>', 'private key (default: chosen by ssh)')
      .option('--known-hosts <file>', 'known host keys (default: those of ssh)');
  }
}
