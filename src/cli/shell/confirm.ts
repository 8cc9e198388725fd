import { EXIT } from './exit-codes.ts';
import { CliError, usageError } from './problem.ts';
import type { Terminal } from './terminal.ts';

/** In place of an answer, for a dry run: the question is only shown. */
export const DRY_RUN = 'dry-run';

/**
 * Asks for confirmation. Without a terminal, the answer may come from standard input (`echo y | …`); otherwise
 * destructive commands (`required`) need `--yes`, and others continue, so that scripts work.
 */
export async function confirm(
  terminal: Terminal,
  question: string,
  yes: boolean | typeof DRY_RUN | undefined,
  need: 'required' | 'asked',
): Promise<void> {
  if (yes === DRY_RUN) terminal.err(`${question}\n`);
  if (yes) return;
  if (!terminal.interactive && need === 'asked') return;
  const answer = terminal.interactive ? await terminal.ask(`${question} [y/N] `) : await terminal.pipedLine?.();
  if (answer === undefined) throw usageError(`not done: ${question}`, 'There is no terminal to ask; use --yes.');
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CliError({ code: 'declined', message: 'nothing was done' }, EXIT.invalid);
}
