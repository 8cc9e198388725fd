import { isMapping } from '../data/plain-value.ts';
import { printable } from '../text/control-characters.ts';
import type { Condition } from './check.ts';
import type { Sample } from './judge.ts';

/** A probe of hosts with its expressions evaluated. */
export type Question =
  | { readonly kind: 'http'; readonly url: string; readonly status: number; readonly contains?: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'prometheus'; readonly url: string; readonly query: string; readonly is: Condition };

/** The same, of what nodes can be asked to do as well. */
export type NodeQuestion = Question | { readonly kind: 'command'; readonly cmd: string };

/** What came back from a host. */
export type HostAnswer =
  | { readonly kind: 'connected' }
  /** `body`: its beginning. */
  | { readonly kind: 'http'; readonly status: number; readonly body: string; readonly isWhole: boolean }
  /** The host has refused the connection, which is an answer. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'none'; readonly why: string };

type Verdict = Pick<Sample, 'ok' | 'text'>;

const good = (text: string): Verdict => ({ ok: true, text });
const bad = (text: string): Verdict => ({ ok: false, text });
const nothing = (text: string): Verdict => ({ ok: null, text });

/** Whether an answer is the one that a check wants. */
export function judgeAnswer(question: Question, answer: HostAnswer): Verdict {
  if (answer.kind === 'none') return nothing(answer.why);
  if (answer.kind === 'refused') return bad('connection refused');
  if (question.kind === 'tcp')
    return answer.kind === 'connected' ? good('connected') : nothing('the host was not asked');
  if (answer.kind !== 'http') return nothing('no answer');
  const { status, body, isWhole } = answer;
  if (question.kind === 'prometheus') return judgeQuery(question.is, answer);
  if (status !== question.status) return bad(`HTTP ${status} instead of ${question.status}`);
  const { contains } = question;
  if (contains === undefined || body.includes(contains)) return good(`HTTP ${status}`);
  const where = isWhole ? 'the answer' : 'the beginning of the answer';
  return bad(`HTTP ${status}, but ${where} lacks ${JSON.stringify(contains.slice(0, 40))}`);
}

/** The answer of Prometheus to an instant query. Each of its values must fit; none is no answer. */
function judgeQuery(is: Condition, { status, body, isWhole }: HostAnswer & { readonly kind: 'http' }): Verdict {
  if (!isWhole) return nothing('Prometheus answered more than is read: let the query aggregate');
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return nothing(`HTTP ${status}: not an answer of Prometheus`);
  }
  if (!isMapping(answer)) return nothing(`HTTP ${status}: not an answer of Prometheus`);
  const { status: word, error, data } = answer;
  if (word === 'error')
    return nothing(`Prometheus: ${typeof error === 'string' ? printable(error.slice(0, 100)) : 'error'}`);
  if (status !== 200 || word !== 'success' || !isMapping(data))
    return nothing(`HTTP ${status}: not an answer of Prometheus`);
  const values = valuesOf(data.resultType, data.result);
  if (values === null)
    return nothing('the query has no numbers as its result: it must be an instant vector or a scalar');
  if (values.length === 0) return nothing('the query has no result');
  if (values.some(Number.isNaN)) return nothing('the value of the query is not a number');
  const wrong = values.find((value) => !fits(is, value));
  return wrong === undefined ? good(`${values[0]}`) : bad(`${wrong} is not ${conditionText(is)}`);
}

/** Null: not numbers at one time. */
function valuesOf(type: unknown, result: unknown): number[] | null {
  const pairs = type === 'scalar' ? [result] : type === 'vector' && Array.isArray(result) ? result.map(pairOf) : [null];
  const values = pairs.map((pair) => (Array.isArray(pair) && typeof pair[1] === 'string' ? numberOf(pair[1]) : null));
  return values.includes(null) ? null : (values as number[]);
}

const pairOf = (sample: unknown): unknown => (isMapping(sample) ? sample.value : null);

/** As Prometheus writes numbers. What is not a number is `NaN`. */
function numberOf(text: string): number {
  if (text === '+Inf' || text === 'Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  return text.trim() === '' ? Number.NaN : Number(text);
}

function fits(is: Condition, value: number): boolean {
  if ('above' in is) return value > is.above;
  if ('below' in is) return value < is.below;
  return value >= is.between[0] && value <= is.between[1];
}

export function conditionText(is: Condition): string {
  if ('above' in is) return `above ${is.above}`;
  return 'below' in is ? `below ${is.below}` : `between ${is.between[0]} and ${is.between[1]}`;
}
