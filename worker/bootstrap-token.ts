import { exitCodeOfStatus } from '../src/cli/exit-codes.ts';
import { CliError } from '../src/cli/problem.ts';
import { given } from '../src/core/data/given.ts';
import { type CreatedToken, ProblemError } from '../src/ops/index.ts';
import { asProblem, PROBLEM_CODES } from '../src/ops/problem.ts';
import { TokenOperations } from '../src/ops/tokens.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { openStore, StoreError } from '../src/store/index.ts';

/** Creates an admin token without authentication: anyone who can write to the store could do so anyway. */
export async function bootstrapToken(settings: Settings, name: string, expires?: string): Promise<CreatedToken> {
  try {
    const store = await openStore(settings.store.url);
    try {
      const request = { name, role: 'admin', ...given({ expires }) };
      return await new TokenOperations(store).create(request, whoRuns());
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof ProblemError) && !(error instanceof StoreError)) throw error;
    const problem = asProblem(error);
    throw new CliError(problem, exitCodeOfStatus(PROBLEM_CODES[problem.code].status));
  }
}

const whoRuns = (): string => process.env.SUDO_USER || process.env.USER || process.env.LOGNAME || 'operator';
