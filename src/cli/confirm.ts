import { EXIT } from './exit-codes.js';
import { CliError, usageError } from './problem.js';
import type { Terminal } from './terminal.js';

/**
 * Asks before something is done. Where nobody sits, the answer may come by standard input (`echo y | …`); else what
 * destroys (`required`) needs `--yes`, and the rest goes ahead, so that scripts work.
 */
export async function confirm(
  terminal: Terminal,
  question: string,
  yes: boolean | undefined,
  need: 'required' | 'asked',
): Promise<void> {
  if (yes) return;
  if (!terminal.interactive && need === 'asked') return;
  const answer = terminal.interactive ? await terminal.ask(`${question} [y/N] `) : await terminal.pipedLine?.();
  if (answer === undefined) throw usageError(`not done: ${question}`, 'Nobody can be asked here; say --yes.');
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CliError({ code: 'declined', message: 'nothing was done' }, EXIT.invalid);
}
