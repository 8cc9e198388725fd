import { Command, Option } from 'commander';
import { type Call, callRoute, parametersOf, type Shown, show, type Typed, typedOf } from './calling.ts';
import type { At } from './client.ts';
import { clusterArgument, nameListArgument, nodeListArgument, wholeNumber } from './id-argument.ts';
import { columnOption, formatOption } from './output.ts';
import type { Session } from './session.ts';

/** Reads the text of an option, with what stood there before where it may be repeated. */
type Reader = <T>(text: string, before: T) => T;

/** How many examples of its commands the help of a group shows. */
const EXAMPLES_OF_GROUP = 3;

/** Fuel's word for an option of ours: accepted, and not shown. */
class FuelsOption extends Option {
  readonly #attribute: string;

  constructor(flags: string, ours: Option) {
    super(flags, `Fuel's word for ${ours.long}`);
    this.#attribute = ours.attributeName();
    if (ours.parseArg) this.argParser(ours.parseArg);
    this.hideHelp();
  }

  override attributeName(): string {
    return this.#attribute;
  }
}

/** A command. Options shared by several commands are defined here once; a short one has one meaning in all of them. */
export class CliCommand extends Command {
  readonly #examples: { readonly args: string; readonly what: string | undefined }[] = [];

  constructor(name?: string) {
    super(name);
    this.addHelpText('after', () => {
      const lines = this.#shownExamples();
      return lines.length === 0 ? '' : `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`.trimEnd();
    });
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** An example in its `--help`: what stands behind the name of the command, and in a few words what that does. */
  example(args = '', what?: string): this {
    this.#examples.push({ args, what });
    return this;
  }

  /** The examples of this command as they are typed. */
  examples(): readonly { readonly line: string; readonly what: string | undefined }[] {
    const path: string[] = [];
    for (let one: Command | null = this; one !== null; one = one.parent) path.unshift(one.name());
    return this.#examples.map(({ args, what }) => ({ line: [...path, args].join(' ').trim(), what }));
  }

  /** Its own, each with what it does; of a group one of each of its first commands. */
  #shownExamples(): readonly string[] {
    const own = this.examples();
    const wide = Math.max(...own.filter(({ what }) => what !== undefined).map(({ line }) => line.length));
    if (own.length > 0)
      return own.map(({ line, what }) => (what === undefined ? line : `${line.padEnd(wide)}  # ${what}`));
    return this.commands
      .flatMap((one) => (one instanceof CliCommand ? one.examples().slice(0, 1) : []))
      .slice(0, EXAMPLES_OF_GROUP)
      .map(({ line }) => line);
  }

  /** An option for which Fuel's client has other words: these are accepted, and not shown. */
  inFuelsWords(ours: Option, ...fuels: readonly string[]): this {
    this.addOption(ours);
    for (const flags of fuels) this.addOption(new FuelsOption(flags, ours));
    return this;
  }

  /** `--cluster`, which Fuel calls an environment. */
  ofCluster(description: string, need: 'required' | 'optional' = 'optional'): this {
    const option = new Option('--cluster <id>', description).argParser(clusterArgument);
    return this.inFuelsWords(option.makeOptionMandatory(need === 'required'), '-e, --env <id>');
  }

  /** `-n, --node`: nodes by their ids or names; with `nameListArgument`, of another system's. */
  nodes(
    description: string,
    need: 'required' | 'optional' = 'optional',
    read: typeof nodeListArgument | typeof nameListArgument = nodeListArgument,
  ): this {
    const option = new Option('-n, --node <ids...>', description).argParser(read as Reader);
    return this.inFuelsWords(option.makeOptionMandatory(need === 'required'), '--nodes <ids...>');
  }

  /** A list of names, for which Fuel has a word. */
  names(flags: string, fuels: string, description: string, need: 'required' | 'optional' = 'optional'): this {
    const option = new Option(flags, description).argParser(nameListArgument as Reader);
    return this.inFuelsWords(option.makeOptionMandatory(need === 'required'), fuels);
  }

  /** A command of this one. */
  verb(name: string, description: string): CliCommand {
    return this.command(name).description(description);
  }

  /** `-f` and `-c`, for every command that prints data with `printOne` or `printList`. */
  output(): this {
    return this.addOption(formatOption()).addOption(columnOption());
  }

  /** The whole command, if it asks one route of the API and prints the answer. */
  calls<R extends At, Flags = unknown>(session: Session, route: R, call: Call<R, Flags> = {}): this {
    if (call.ask === undefined && parametersOf(route).length !== this.registeredArguments.length)
      throw new Error(`the arguments of '${this.name()}' are not the parameters of ${route}`);
    if (call.question) this.asks();
    return this.output().action((...typed: unknown[]) => callRoute(session, route, call, typed));
  }

  /** The whole command, if it prints what it finds by itself. */
  prints<A, Flags = unknown>(
    session: Session,
    find: (typed: Typed<Flags>) => Promise<A>,
    shown: Shown<A, Typed<Flags>> = {},
  ): this {
    return this.output().action(async (...given: unknown[]) => {
      const typed: Typed<Flags> = typedOf<Flags>(given);
      await show(session, await find(typed), shown, typed);
    });
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
      .option('--trace', 'run tasks with more detailed output')
      .option('--rollouts <file>', 'rollouts of this run by role, instead of those of release and cluster; null: none')
      .overridesLimits();
  }

  overridesLimits(): this {
    return this.option(
      '--override-limits <reason>',
      'go beyond the limits of the site, for this reason; requires the role admin',
    );
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
    return this.option('-l, --limit <number>', 'maximum number to show', wholeNumber);
  }

  /** `--site` and `--node`, the name of an agent. */
  nodeOfSite(): this {
    return this.requiredOption('--site <site>', 'site, or cluster-<id>').requiredOption(
      '--node <node>',
      'name of the node',
    );
  }
}
