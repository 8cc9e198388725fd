import fc from 'fast-check';

/**
 * The same cases in every run, so that a change is judged by its effect and not by its luck. A search for new cases,
 * as in `.ci/nightly`, sets its own seed: PROPERTY_SEED=$RANDOM npx vitest run test/property.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.PROPERTY_SEED ?? 20_261_123) });
