/** Who asked for something, and why; every field is optional. */
export interface OperatorNote {
  readonly reason?: string;
  readonly by?: string;
}

/** Something an operator did to a run, as its report keeps it. */
export interface OperatorAction<Action extends string> extends OperatorNote {
  readonly action: Action;
  readonly at: string;
}

/** Reads a note. Operators send them from anywhere, so a payload of another shape is read for what it is worth. */
export function readNote(raw: unknown): OperatorNote {
  if (typeof raw === 'string' && raw !== '') return { reason: raw.slice(0, 500) };
  if (typeof raw !== 'object' || raw === null) return {};
  const { reason, by } = raw as Record<string, unknown>;
  return {
    ...(typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 500) } : {}),
    ...(typeof by === 'string' && by !== '' ? { by: by.slice(0, 200) } : {}),
  };
}
