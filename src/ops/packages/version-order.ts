/** Numbers of a version like `1.0.2`; anything else counts as 0. */
const numbers = (version: string): readonly number[] =>
  version.split('.').map((part) => Number.parseInt(part, 10) || 0);

/** Negative if the first version is older. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The first two numbers: packages of one series replace each other, others can coexist. */
export const seriesOf = (version: string): string => {
  const [major = 0, minor = 0] = numbers(version);
  return `${major}.${minor}`;
};
