import { stateWord } from '../../core/state-word.ts';

/** Terminal colours by meaning, or none. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly busy: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly strong: (text: string) => string;
}

export function paintFor(color: boolean): Paint {
  const style = (code: string) => (text: string) => (color && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { good: style('32'), bad: style('31'), busy: style('33'), dim: style('2'), strong: style('1') };
}

/** A state or outcome in its colour. */
export function paintState(paint: Paint, state: string): string {
  const words = stateWord(state);
  if (['success', 'nothing_to_do', 'well'].includes(state)) return paint.good(words);
  if (['failed', 'cancelled', 'terminated', 'lost'].includes(state)) return paint.bad(words);
  if (['running', 'prepared', 'paused', 'stopped', 'success_with_failures'].includes(state)) return paint.busy(words);
  return paint.dim(words);
}
