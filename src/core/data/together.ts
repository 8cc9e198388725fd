/** Those with the same key, in the order of the first of each. (`Map.groupBy` is not in the language that workflows are compiled for.) */
export function together<T>(all: Iterable<T>, by: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const one of all) {
    const key = by(one);
    const own = found.get(key);
    if (own === undefined) found.set(key, [one]);
    else own.push(one);
  }
  return found;
}
