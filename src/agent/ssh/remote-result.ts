import { given } from '../../core/data/given.ts';
import {
  describeFailure,
  type OutputRecord,
  outcomeOf,
  readableTail,
  type TaskFailure,
  type TaskResult,
  type TryRecord,
} from '../index.ts';
import { findRunner } from '../task-registry.ts';
import { EndRecord } from './end-record.ts';
import { BUSY, FILES_FAILED, MISSING_FOLDER, MISSING_PROGRAM, REFUSED_PATH } from './exit-codes.ts';
import type { RemoteEnd } from './ssh-work.ts';

/**
 * The result of an execution, from the record on its node. The same record always gives the same result.
 *
 * @param limitSeconds for the message of a timeout
 * @param execution its name for people
 */
export function remoteResult(
  type: string,
  text: string,
  limitSeconds: number,
  cancelReason: string,
  execution: string,
): TaskResult {
  const record = new EndRecord(text);
  const ended = record.text('ended');
  const base = endOf(type, record, limitSeconds, cancelReason, execution);
  const { failure } = base;
  const found = record.count('found');
  const strongest = record.text('strongest');
  const causes = {
    timeout: 'timeout',
    'try-timeout': 'timeout',
    cancel: 'cancel',
    interrupted: 'interrupted',
    damaged: 'interrupted',
  } as const;
  const cause = causes[record.text('cause') as keyof typeof causes];
  return {
    v: 1,
    outcome: failure === null ? 'success' : outcomeOf(failure),
    failure,
    message: failure === null ? 'done' : describeFailure(failure).slice(0, 2000),
    changed: base.changed,
    exitCode: base.exitCode,
    signal: null,
    startedAt: record.text('started') || ended,
    endedAt: ended,
    bootId: record.text('boot'),
    tries: record.all('try').slice(-50).map(tryRecord),
    killed:
      cause === undefined || found === 0
        ? null
        : {
            cause,
            signal: strongest === 'SIGTERM' || strongest === 'SIGKILL' ? strongest : null,
            means: record.text('group') === '' ? 'process-walk' : 'cgroup',
            found,
            survivors: record.count('survivors'),
          },
    leftRunning: record.count('left'),
    summary: base.summary,
    output: { stdout: outputOf(record, 'stdout'), stderr: outputOf(record, 'stderr') },
  };
}

function outputOf(record: EndRecord, stream: 'stdout' | 'stderr'): OutputRecord {
  const tail = record.bytes(`tail_${stream}`);
  const dropped = record.count(`dropped_${stream}`);
  return {
    bytes: record.count(`bytes_${stream}`) + dropped,
    dropped,
    tail: readableTail(tail),
    binary: tail.includes(0),
  };
}

function tryRecord(line: string, at: number): TryRecord {
  const [startedAt = '', endedAt = '', code = '', cause = ''] = line.split(' ');
  const exitCode = Number(code);
  const outcome =
    cause === 'cancel' ? 'cancelled' : exitCode === 0 && !cause.endsWith('timeout') ? 'success' : 'failed';
  const message = exitCode === 0 ? 'done' : `ended with exit code ${exitCode}`;
  return { number: at + 1, startedAt, endedAt, outcome, exitCode, message };
}

function endOf(
  type: string,
  record: EndRecord,
  limitSeconds: number,
  cancelReason: string,
  execution: string,
): RemoteEnd {
  const unknown = { changed: null, exitCode: null, summary: {} };
  const last = record.all('try').at(-1)?.split(' ')[2];
  const exitCode = last === undefined ? null : Number(last);
  const isStarted = exitCode !== null;
  switch (record.text('cause')) {
    case 'interrupted': {
      const cause = record.text('lost') === 'reboot' ? 'reboot' : 'supervisor-lost';
      return { ...unknown, failure: { kind: 'interrupted', cause } };
    }
    case 'damaged': {
      const damage = record.text('damage').trim().replaceAll(' ', ', ');
      return { ...unknown, failure: { kind: 'journal', execution, damage } };
    }
    case 'cancel':
      return {
        ...unknown,
        exitCode,
        changed: isStarted ? null : false,
        failure: { kind: 'cancelled', reason: cancelReason },
      };
    case 'timeout':
    case 'try-timeout':
      return {
        ...unknown,
        exitCode,
        // From 128 on, a shell says by it which signal ended the program.
        failure: { kind: 'timeout', seconds: limitSeconds, ...given({ exitCode: ended(exitCode) }) },
      };
    case 'busy':
      return { ...unknown, changed: false, failure: { kind: 'busy', holder: 'another task of this node' } };
    default:
      return doneEnd(type, record, exitCode ?? record.count('code'));
  }
}

const ended = (exitCode: number | null): number | undefined =>
  exitCode !== null && exitCode < 128 ? exitCode : undefined;

function doneEnd(type: string, record: EndRecord, exitCode: number): RemoteEnd {
  const ssh = findRunner(type)?.ssh;
  const changed = ssh?.changed === undefined ? record.all('changed').length > 0 : ssh.changed(record);
  const summary = ssh?.summary?.(record) ?? {};
  const said = readableTail(record.bytes('tail_stderr')).trim().split('\n').at(-1) ?? '';
  const own = (failure: TaskFailure): RemoteEnd => ({ failure, changed: changed ?? false, exitCode: null, summary });
  switch (exitCode) {
    case REFUSED_PATH: {
      const [path, rule] = failedFiles(record)[0] ?? ['the folder', said];
      return own({ kind: 'refused-path', path, rule });
    }
    case MISSING_PROGRAM:
      return own({ kind: 'missing-program', program: said.replace(/ is not installed$/, '') });
    case BUSY:
      return own({ kind: 'busy', holder: said });
    case MISSING_FOLDER:
      return own({ kind: 'io', path: said, code: 'ENOENT' });
    case FILES_FAILED:
      return own({
        kind: 'files',
        files: failedFiles(record)
          .slice(0, 20)
          .map(([path, reason]) => ({ path, reason })),
      });
  }
  if (ssh?.end !== undefined) return ssh.end(record, exitCode);
  const [first] = failedFiles(record);
  if (exitCode !== 0 && first !== undefined)
    return own({ kind: 'files', files: [{ path: first[0], reason: first[1] }] });
  return { failure: exitCode === 0 ? null : { kind: 'exit', exitCode }, changed, exitCode, summary };
}

function failedFiles(record: EndRecord): (readonly [string, string])[] {
  return record.all('file_failed').map((text) => {
    const [path = '', reason = ''] = Buffer.from(text, 'base64').toString('utf8').split('\n');
    return [path, reason] as const;
  });
}
