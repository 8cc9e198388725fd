/** What is shown somewhere, as named tables of plain values: the unit of change is one entry of a table. */
export type Frame = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A frame to come from: the text of each entry that was told. */
export type Told = Map<string, Map<string, string>>;

/**
 * What differs between what was told and the frame, by table; an entry that is gone is null. `told` is brought up to
 * the frame.
 */
export function changesSince(told: Told, frame: Frame): Record<string, Record<string, unknown>> {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const [table, entries] of Object.entries(frame)) {
    const before = told.get(table) ?? new Map<string, string>();
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
    told.set(table, before);
    if (Object.keys(changed).length > 0) changes[table] = changed;
  }
  return changes;
}

/** Everything that was told, for one who comes later. */
export function everything(told: Told): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    [...told].map(([table, entries]) => [
      table,
      Object.fromEntries([...entries].map(([key, text]) => [key, JSON.parse(text) as unknown])),
    ]),
  );
}
