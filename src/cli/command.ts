import { Command, Option } from 'commander';
import { columnOption, formatOption } from './formats/output.js';
import { wholeNumber } from './id-argument.js';

/** A command of ours. What several commands take is an option here, so that it is written and explained once. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** `-f` and `-c`: every command that prints data. Its action prints by `printOne` or `printList`. */
  output(): this {
    return this.addOption(formatOption()).addOption(columnOption());
  }

  /** `-f json|yaml`, of commands that read or write a file of data. */
  fileFormat(): this {
    return this.addOption(
      new Option('-f, --format <format>', 'form of the file').choices(['json', 'yaml']).default('yaml'),
    );
  }

  /** `-f`, of commands that print a text or drawing in forms of their own; the first is the default. */
  forms(forms: readonly string[], description = 'how to show it'): this {
    return this.addOption(new Option('-f, --format <format>', description).choices(forms).default(forms[0]));
  }

  /** A flag that may be given several times; its value is the list. */
  repeatable(flags: string, description: string): this {
    return this.addOption(
      new Option(flags, `${description}; repeatable`).argParser((value: string, before?: readonly string[]) => [
        ...(before ?? []),
        value,
      ]),
    );
  }

  /** `--label NAME:VALUE`, repeatable; `labelsOf` reads it. */
  labels(description: string): this {
    return this.repeatable('--label <name:value>', description);
  }

  /** Name, text and labels of a run that the command starts; `descriptionOf` reads them. */
  describesRun(): this {
    return this.option('--title <text>', 'one line that lists of runs show')
      .option('--description <text>', 'any text about the run, as Markdown')
      .labels('a label to find the run by');
  }

  /** `--wait` and `--watch` for a run, and how it is printed. */
  follows(): this {
    return this.option('--wait', 'wait for the end of the run; the exit code says how it ended')
      .option('--watch', 'the same, with a line for each change')
      .output();
  }

  /** A run that the command starts: why, its name and labels, and whether it is followed. */
  startsRun(): this {
    return this.reason().describesRun().follows();
  }

  /** Runs of graphs that change nothing: `--dry-run`, or `--noop`. */
  dryRuns(): this {
    return this.addOption(new Option('--dry-run', 'plan and check everything, run nothing').conflicts('noop')).option(
      '--noop',
      'run every task in the variant that changes nothing and says what it would change',
    );
  }

  /** `--dry-run`, `--noop`, `--force`, `--trace`. */
  graphRun(): this {
    return this.dryRuns()
      .option('--force', 'as if nothing had ever been run: every condition on changes holds')
      .option('--trace', 'ask the runners of tasks for more detail');
  }

  reason(kept = 'kept with the run'): this {
    return this.option('--reason <text>', `why; ${kept}`);
  }

  /** `--yes`, of commands that ask; `confirm` reads it. */
  asks(): this {
    return this.option('-y, --yes', 'do not ask');
  }

  limit(): this {
    return this.option('-n, --limit <number>', 'most to show', wholeNumber);
  }

  /** A node of a site, as its agent is named. */
  nodeOfSite(): this {
    return this.requiredOption('--site <site>', 'site, or cluster-<id>').requiredOption(
      '--node <node>',
      'name of the node',
    );
  }

  /** How ssh reaches a machine; its address is an option of the command. */
  ssh(): this {
    return this.option('--port <port>', 'port of its sshd')
      .option('--identity-file <file>', 'private key; else what ssh finds itself')
      .option('--known-hosts <file>', 'known host keys; else the usual ones');
  }
}
