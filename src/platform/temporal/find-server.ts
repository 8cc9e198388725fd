// One implementation for us and for the scripts, which run before anything is installed or built.
export type { Attempt, Found, Missing } from '../../../scripts/temporal-binary.mjs';
export { explainMissing, findTemporalBinary } from '../../../scripts/temporal-binary.mjs';
