/** Sizes between which growth is measured. Linear work grows by their ratio, quadratic work by its square. */
const FACTOR = 16;

/**
 * How work grows with its input: 1 when in proportion, `FACTOR` when with its square. Time shows it only between two sizes
 * of the same input in the same process, never by itself: each is the shortest of several turns, of processor time.
 *
 * @param input makes an input of this size
 * @param small size of the smaller one; the larger one has sixteen times as much
 */
export function growthOf<T>(work: (input: T) => unknown, input: (size: number) => T, small = 2_000): number {
  const [few, many] = [input(small), input(small * FACTOR)];
  // The first compilation and allocation are not growth.
  turnOf(work, few, 3);
  let turns = 1;
  while (turns < 4096 && turnOf(work, few, turns) < 2_000) turns *= 2;
  const ofFew = Math.min(...[1, 2, 3].map(() => turnOf(work, few, turns))) / turns;
  const ofMany = Math.min(...[1, 2, 3].map(() => turnOf(work, many, 1)));
  return ofMany / Math.max(ofFew, 1) / FACTOR;
}

/** Growth that only work beyond proportion shows: half of a square's. Collecting garbage makes up to four of linear work. */
export const MUCH_GROWTH = 8;

/** Microseconds of this process. */
function turnOf<T>(work: (input: T) => unknown, input: T, times: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) work(input);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
