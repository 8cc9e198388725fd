import type { AskHost } from '../../../activities/check/ask-host.ts';
import type { Condition } from '../../../src/core/checks/check.ts';

/** Hosts of a rehearsal: each answers every check well, and at once. */
export const askWellHost: AskHost = async (question) => {
  const http = (status: number, body: string) => ({ kind: 'http', status, body, isWhole: true }) as const;
  switch (question.kind) {
    case 'tcp':
      return { kind: 'connected' };
    case 'http':
      return http(question.status, question.contains ?? '');
    case 'prometheus': {
      const result = [0, String(goodValue(question.is))];
      return http(200, JSON.stringify({ status: 'success', data: { resultType: 'scalar', result } }));
    }
  }
};

function goodValue(is: Condition): number {
  if ('above' in is) return is.above + 1;
  return 'below' in is ? is.below - 1 : is.between[0];
}
