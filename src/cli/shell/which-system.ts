import type { OutputFlags } from './output.ts';
import { CliError } from './problem.ts';
import type { Session } from './session.ts';

/**
 * Where a list has nothing to show because its system has nothing: which system that is. Whoever looks for the sites of
 * another one, of another folder or another context, sees it here.
 */
export async function sayWhichIsEmpty(session: Session, { format }: Pick<OutputFlags, 'format'>): Promise<void> {
  if (format !== 'table') return;
  const client = await session.client();
  try {
    const { store, since, empty } = await client.call('GET /system');
    if (empty) session.terminal.err(`the system at ${client.url} is empty: its store is ${store}, since ${since}\n`);
  } catch (error) {
    // The list itself was answered.
    if (!(error instanceof CliError)) throw error;
  }
}
