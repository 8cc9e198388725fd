import {
  type CarriedOut,
  describeFailure,
  failureKindOf,
  isTrySeparator,
  outcomeOf,
  type TaskFailure,
  type TaskResult,
} from '../../src/agent/index.ts';
import { given } from '../../src/core/data/given.ts';
import { isMapping } from '../../src/core/data/plain-value.ts';
import { OUTPUT_CHARACTERS } from '../../src/core/graph-run/task-end.ts';
import { readGraphRunName } from '../../src/core/graph-run/title.ts';
import type { TaskEnd } from '../graph-contract.ts';

const MESSAGE_CHARACTERS = 300;
const SUMMARY_ENTRIES = 20;
const SUMMARY_CHARACTERS = 80;
/** A history of ten thousand tasks must stay small. */
const MAX_BYTES = 2_000;

/**
 * The end of an order, as the workflow and its history store it. Everything else is in the log store.
 *
 * @param withOutput as in `RunTask`
 */
export function taskEnd(end: Exclude<CarriedOut, { kind: 'left' }>, withOutput?: true): TaskEnd {
  switch (end.kind) {
    case 'refused':
      return { outcome: 'refused', message: clip(`was not run: ${end.reason.replace(/^was not run: /, '')}`) };
    case 'withdrawn':
      return { outcome: 'not_reached', message: clip(`was not run: ${end.reason}`) };
    case 'not-accepted':
      return {
        outcome: outcomeOf(end.answer.failure),
        ...ofFailure(end.answer.failure),
        message: clip(`was not run: ${describeFailure(end.answer.failure)}`),
      };
    case 'ended':
      return { ...ofResult(end), ...(withOutput && outputOf(end.result)) };
  }
}

function outputOf({ output: { stdout, stderr } }: TaskResult): Pick<TaskEnd, 'output'> {
  const output = [stdout, stderr].flatMap(({ tail }) => (tail.trim() === '' ? [] : tail.trimEnd())).join('\n');
  return output === '' ? {} : { output: output.slice(-OUTPUT_CHARACTERS).replace(/^[\udc00-\udfff]/, '') };
}

function ofFailure(failure: TaskFailure | null): Pick<TaskEnd, 'failure_kind'> {
  const failure_kind = failureKindOf(failure);
  return given({ failure_kind });
}

function ofResult({ result, unshipped, before }: Extract<CarriedOut, { kind: 'ended' }>): TaskEnd {
  const { outcome, exitCode, changed, startedAt, endedAt, tries } = result;
  const message = [
    ...(result.failure === null ? [] : [explained(result)]),
    ...(result.failure !== null && tries.length > 1 ? [`tried ${tries.at(-1)!.number} times`] : []),
    ...(before === undefined
      ? []
      : [`not repeated: attempt ${before.generation} of run ${numberOf(before)} completed it`]),
    ...(unshipped === undefined ? [] : [`its output is on the node only: ${unshipped}`]),
  ].join('; ');
  const end: TaskEnd = {
    outcome,
    ...(message === '' ? {} : { message: clip(message) }),
    ...(exitCode === null ? {} : { exit_code: exitCode }),
    ...(changed === null ? {} : { changed }),
    ...ofFailure(result.failure),
    started_at: startedAt,
    ended_at: endedAt,
    tries: tries.length,
  };
  const summary = flat(result.summary);
  if (Object.keys(summary).length === 0) return end;
  const whole = { ...end, summary };
  return Buffer.byteLength(JSON.stringify(whole)) <= MAX_BYTES ? whole : end;
}

/** The number by which people know a run. */
const numberOf = ({ run }: { readonly run: string }): number | string => readGraphRunName(run)?.graph ?? run;

/** The failure with the program's last line of output, because an exit code alone does not help. */
function explained({ message, failure, output }: TaskResult): string {
  if (failure?.kind !== 'exit' && failure?.kind !== 'signal' && failure?.kind !== 'timeout') return message;
  const said = [output.stderr, output.stdout].map(({ tail }) => lastLine(tail)).find((line) => line !== '');
  return said === undefined ? message : `${message}: ${said}`;
}

const lastLine = (text: string): string =>
  text
    .split('\n')
    .findLast((line) => line.trim() !== '' && !isTrySeparator(line))
    ?.trim() ?? '';

function clip(text: string): string {
  if (text.length <= MESSAGE_CHARACTERS) return text;
  // Do not split a surrogate pair.
  return `${text.slice(0, MESSAGE_CHARACTERS - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Scalar values of the runner's summary. Lists of names are only in the log store. */
function flat(summary: Readonly<Record<string, unknown>>): Record<string, number | string | boolean> {
  const entries = Object.entries(summary).flatMap(([name, value]): [string, unknown][] =>
    isMapping(value) ? Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one]) : [[name, value]],
  );
  const plain = entries.flatMap(([name, value]): [string, number | string | boolean][] =>
    typeof value === 'number' || typeof value === 'boolean'
      ? [[name, value]]
      : typeof value === 'string'
        ? [[name, value.slice(0, SUMMARY_CHARACTERS)]]
        : [],
  );
  return Object.fromEntries(plain.slice(0, SUMMARY_ENTRIES));
}
