const START = '--- try ';

/** Stands in the output between the tries of a task, with why the one before failed. */
export const trySeparator = (number: number, most: number, before: string): string =>
  `${START}${number} of ${most}, after: ${before} ---\n`;

/** Whether a line of output is not the task's own. */
export const isTrySeparator = (line: string): boolean => line.startsWith(START);
