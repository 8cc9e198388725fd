/** Records of one claim are below this: with a few a second, ten days of them. */
const OF_ONE_CLAIM = 1_000_000;

/** The number of a run's last record: higher than any other, so that a late one never overwrites the end of the run. */
export const CLOSING = 1_000_000_000;

/** Numbers of records restart with each generation, above those of the execution before the reset. */
export const sequenceIn = (generation: number, sequence: number): number => (generation - 1) * OF_ONE_CLAIM + sequence;

/** The first generation whose records are above a run's newest. */
export const generationAfter = (sequence: number): number => Math.floor(sequence / OF_ONE_CLAIM) + 2;
