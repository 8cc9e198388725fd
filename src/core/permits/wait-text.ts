import { counted, someOf } from '../text/text.ts';
import type { PermitWait } from './answer.ts';

/** What a run waits for, in one line: `2 machines wait since 09:30 UTC: at most 2 machines of rack r1 out of service (n03 has failed)`. */
export function waitText({ machines, limit, behind, since, until }: PermitWait): string {
  const who = `${counted(machines, 'machine')} ${machines === 1 ? 'waits' : 'wait'} since ${minuteOf(since)}: ${limit}`;
  const after = behind.length === 0 ? '' : ` (${someOf(behind, SHOWN)})`;
  return `${who}${after}${until === undefined ? '' : `, until ${minuteOf(until)}`}`;
}

const SHOWN = 6;

const minuteOf = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;
