// One implementation serves the scripts, which run before anything is installed or built, and us.
export type { Attempt, Found, Missing } from '../../../scripts/temporal-binary.mjs';
export { explainMissing, findTemporalBinary } from '../../../scripts/temporal-binary.mjs';
