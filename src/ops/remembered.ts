/** More are not kept: the oldest is forgotten. */
const MAX_KEPT = 200;

/** What is known of things that no longer change, by their ids. */
export type Remembered<T> = Map<string, Promise<T>>;

/** Finds it once; what could not be found is looked for again. */
export function remembered<T>(kept: Remembered<T>, id: string, find: () => Promise<T>): Promise<T> {
  const known = kept.get(id);
  if (known !== undefined) return known;
  const found = find();
  kept.set(id, found);
  found.catch(() => kept.delete(id));
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return found;
}
