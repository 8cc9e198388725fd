import { changeText } from '../../core/setting-change-text.ts';

interface Change {
  readonly setting: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** `common.debug: false -> true`, one after the other. */
export const changesText = (changes: readonly Change[]): string =>
  changes.map(({ setting, before, after }) => `${setting}: ${changeText(before, after)}`).join('; ');
