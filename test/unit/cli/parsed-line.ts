import { type Command, CommanderError } from 'commander';
import { createProgram } from '../../../src/cli/program.ts';
import { CliError } from '../../../src/cli/shell/problem.ts';
import { recordingTerminal } from './recording-terminal.ts';

/** The commands of a program that do something, by the words that call them. */
export function leavesOf(command: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    const name = [...path, child.name()];
    const below = leavesOf(child, name);
    // `worker` starts a process, and has commands.
    return isCalled(child) ? [{ path: name.join(' '), command: child }, ...below] : below;
  });
}

const isCalled = (command: Command): boolean =>
  typeof (command as unknown as { readonly _actionHandler: unknown })._actionHandler === 'function';

/**
 * Why the program does not take a command line; undefined: it does. The line is parsed as the program does, and nothing
 * runs. What only a reader knows (capital letters) is 1: names are asked of an API.
 */
export async function whyNotTaken(line: string): Promise<string | undefined> {
  const said: string[] = [];
  const program = await createProgram(recordingTerminal({ env: { SITEWRIGHT_API: 'http://127.0.0.1:1' } }), {
    complain: (text) => said.push(text),
    only: line.split(' ')[0]!,
  });
  const silence = (command: Command): void => {
    if (isCalled(command)) command.action(() => undefined);
    for (const each of command.commands) silence(each);
  };
  for (const each of program.commands) silence(each);
  // What a shell reads.
  const words =
    line
      .replace(/ < \S+$/, '')
      .replace(/\b[A-Z_]{2,}\b/g, '1')
      .match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  try {
    await program.parseAsync(
      words.map((word) => word.replace(/^(["'])(.*)\1$/s, '$2')),
      { from: 'user' },
    );
    return undefined;
  } catch (error) {
    // It was parsed, and asks an API for a name.
    if (error instanceof CliError) return undefined;
    if (!(error instanceof CommanderError)) throw error;
    return error.code === 'commander.help' ? undefined : said.join(' ').split('\n')[0];
  }
}
