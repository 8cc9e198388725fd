import { createEngine, YaqlError } from '@sitewright/yaql';
import type { NodeQuestion } from '../../src/core/checks/answers.ts';
import type { Check, CheckText } from '../../src/core/checks/check.ts';
import { syntaxProblemOf } from '../../src/core/checks/question-text.ts';

/** What the expressions of a check read. */
export interface CheckSubject {
  readonly site: { readonly name: string };
  /** Absent where a check is asked once. */
  readonly node?: {
    readonly name: string;
    /** As MAAS knows it; null if it knows none. */
    readonly address: string | null;
    readonly rack: string | null;
    readonly tags: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
  };
}

/** A document decides what is evaluated, for each of its nodes, in the thread of a worker. */
const engine = createEngine({ maxSteps: 10_000, maxRegexSteps: 50_000, memoryQuota: 100_000, limitIterators: 1_000 });

/** What is asked of one node. Nothing is asked with a value that is not known. */
export function questionOf(
  { probe }: Check,
  subject: CheckSubject,
): NodeQuestion | { readonly kind: 'unknown'; readonly why: string } {
  const unknown: string[] = [];
  const text = (key: string, value: CheckText): string => {
    const read = evaluated(value, subject);
    if (read.ok) return read.text;
    unknown.push(`${key}: ${read.why}`);
    return '';
  };
  const question = ((): NodeQuestion => {
    switch (probe.kind) {
      case 'http': {
        const { url, status, contains } = probe;
        const asked = { kind: probe.kind, url: text('url', url), status };
        return contains === undefined ? asked : { ...asked, contains: text('contains', contains) };
      }
      case 'tcp':
        return { ...probe, host: text('host', probe.host) };
      case 'prometheus':
        return { ...probe, url: text('url', probe.url), query: text('query', probe.query) };
      case 'command':
        return { ...probe, cmd: text('cmd', probe.cmd) };
      case 'graph':
        throw new Error('questionOf: a graph is no question');
    }
  })();
  const [why = syntaxProblemOf(question)] = unknown;
  return why === undefined ? question : { kind: 'unknown', why };
}

type Evaluated = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string };

function evaluated(value: CheckText, subject: CheckSubject): Evaluated {
  if (typeof value === 'string') return { ok: true, text: value };
  try {
    const text = engine.parse(value.yaql_exp).evaluateToHost(subject);
    if (typeof text === 'string' && text !== '') return { ok: true, text };
    return { ok: false, why: `${value.yaql_exp.slice(0, 60)} is ${text === '' ? 'empty' : 'not text'}` };
  } catch (error) {
    if (error instanceof YaqlError) return { ok: false, why: `${error.errorClass}: ${error.message}`.slice(0, 100) };
    throw error;
  }
}
