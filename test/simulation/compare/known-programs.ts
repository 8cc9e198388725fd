/** Programs that the simulated server once lived through otherwise than a real one, and what was wrong. CI compares them again. */
export const KNOWN_PROGRAMS: ReadonlyMap<number, string> = new Map([
  [20261127, 'WAIT_CANCELLATION_REQUESTED did not wait for the end of a child, as the SDK does'],
  [20261164, 'the same, so that a parent ended and terminated its child'],
  [20261192, 'a workflow could signal itself'],
  [20261242, 'a child that had continued as new refused a request to cancel it'],
  [20261266, 'a workflow could cancel itself'],
  [20261285, 'a patch left no search attribute'],
]);
