import { kindName, kindOf, type Value } from '../values/kind.ts';
import { repr } from '../values/repr.ts';

/** A value as part of a message: short, and never an error itself. */
export function asText(value: Value): string {
  try {
    const text = repr(value);
    return text.length > 80 ? `${text.slice(0, 77)}...` : text;
  } catch {
    return kindName(kindOf(value));
  }
}
