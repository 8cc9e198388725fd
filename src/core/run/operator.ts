/** Who made a request, and why. Every field is optional. */
export interface OperatorNote {
  readonly reason?: string;
  readonly by?: string;
}

/** An operator's action on a run, as stored in its report. */
export interface OperatorAction<Action extends string> extends OperatorNote {
  readonly action: Action;
  readonly at: string;
}

/** Reads a note. Operators may send any payload: uses what fits and ignores the rest. */
export function readNote(raw: unknown): OperatorNote {
  if (typeof raw === 'string' && raw !== '') return { reason: raw.slice(0, 500) };
  if (typeof raw !== 'object' || raw === null) return {};
  const { reason, by } = raw as Record<string, unknown>;
  return {
    ...(typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 500) } : {}),
    ...(typeof by === 'string' && by !== '' ? { by: by.slice(0, 200) } : {}),
  };
}
