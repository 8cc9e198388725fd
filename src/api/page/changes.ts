/** Shown data, as named tables of plain values: the unit of change is one entry of a table. */
export type Frame = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The sent state: the text of each entry, by table. */
export type Sent = Map<string, Map<string, string>>;

/**
 * Differences between the sent state and the frame, by table; a removed entry is null. Updates `sent` to the frame.
 */
export function changesSince(sent: Sent, frame: Frame): Record<string, Record<string, unknown>> {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const [table, entries] of Object.entries(frame)) {
    const before = sent.get(table) ?? new Map<string, string>();
    const changed: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(entries)) {
      const text = JSON.stringify(value) ?? 'null';
      if (before.get(key) !== text) changed[key] = value ?? null;
      before.set(key, text);
    }
    for (const key of before.keys()) {
      if (Object.hasOwn(entries, key)) continue;
      changed[key] = null;
      before.delete(key);
    }
    sent.set(table, before);
    if (Object.keys(changed).length > 0) changes[table] = changed;
  }
  return changes;
}

/** Everything that was sent, for a reader who joins later. */
export function everything(sent: Sent): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    [...sent].map(([table, entries]) => [
      table,
      Object.fromEntries([...entries].map(([key, text]) => [key, JSON.parse(text) as unknown])),
    ]),
  );
}
