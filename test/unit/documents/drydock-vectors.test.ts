import { describe, expect, it } from 'vitest';
import { isError } from '../../../src/core/problems/diagnostic.ts';
import { loadSite } from '../../../src/documents/index.ts';
import { fileOf, readVectors, type Vector } from './vectors.ts';

interface Verdict {
  readonly status?: 'success' | 'failure';
  readonly messages?: readonly { readonly code: string; readonly error: boolean }[];
}

interface Expected extends Verdict {
  readonly rendered?: { readonly error?: object };
  readonly drydock?: Verdict;
}

/** Images and kernels: only MAAS knows which it has. They are checked when the site is verified. */
const OF_MAAS = 'DD3001';

function accepted({ expected, judgement }: Vector<Expected>): readonly string[] {
  if (judgement?.verdict === 'better') return judgement.want?.accept ?? [];
  const { status, messages = [] } = expected.drydock ?? expected;
  const errors = messages.filter(({ error }) => error);
  const isForMaas = errors.length > 0 && errors.every(({ code }) => code === OF_MAAS);
  const isRefused = expected.rendered?.error !== undefined || (status === 'failure' && !isForMaas);
  return isRefused ? ['error'] : ['ok', 'warning'];
}

describe.each(['hardware', 'inherit', 'link', 'network', 'node', 'rest', 'storage'])('Drydock, %s', (topic) => {
  it.each(readVectors<Expected>(`drydock-${topic}`))('$id: $title', check);
});

describe('Deckhand, then Drydock', () => {
  it.each(readVectors<Expected>('site-layered'))('$id: $title', check);
});

function check(vector: Vector<Expected>): void {
  const { diagnostics } = loadSite(fileOf(vector.input), { configuration: 'optional' });
  const errors = diagnostics.filter(isError);
  const isWarned = diagnostics.some(({ severity }) => severity === 'warning');
  const outcome = errors.length > 0 ? 'error' : isWarned ? 'warning' : 'ok';
  const wanted = accepted(vector);
  // A warning of ours beside what is right is no difference.
  expect(wanted.includes('ok') ? [...wanted, 'warning'] : wanted, JSON.stringify(errors)).toContain(outcome);
}
