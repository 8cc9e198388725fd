import { condition } from '@temporalio/workflow';

/**
 * How often conditions are evaluated before all that arrived with a request has had its effect: a result wakes the loop that
 * waits for it, whose turn may wake another one. Twice would do; the rest is margin.
 */
const ROUNDS = 4;

/**
 * Resolves when the results that arrived in the same activation have had their effect.
 *
 * The SDK executes updates first. A worker that has to read a run's history again gets workflow tasks that ordered nothing in
 * one activation with the update that follows them, but a later replay gets them one after the other, the update last. Only
 * an update that always comes last orders the same in both.
 */
export async function afterResults(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    // Not at the first poll, which is immediate.
    let looks = 0;
    await condition(() => looks++ > 0);
  }
}
