import type { ProblemBody } from '../../core/contracts/problem.ts';

/** Why there is no answer: of the API, or of the page where the API was not reached. */
export type Problem = Pick<ProblemBody, 'detail'> & Partial<ProblemBody>;

/** Why the API refused; `ended`: there was a session, and it is no longer valid. */
export async function refusalOf(answer: Response): Promise<{ readonly problem: Problem; readonly ended: boolean }> {
  const said: Problem = await answer
    .json()
    .catch(() => ({ code: 'unexpected', detail: `The API answered ${answer.status}.` }));
  const ended = answer.headers.get('www-authenticate')?.includes('invalid_token') === true;
  return { problem: { status: answer.status, ...said }, ended };
}
