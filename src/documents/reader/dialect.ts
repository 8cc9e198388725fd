import type { ReadLimits } from './limits.ts';
import type { YamlProblem } from './yaml-problems.ts';

/** Differences between YAML readers. */
export interface YamlDialect {
  readonly limits: ReadLimits;
  /**
   * `core`: `!!str`, `!!int` and so on, as a safe loader reads them. `collections`: tags of lists and mappings,
   * including `!!pairs` and `!!omap`, with a warning. All other tags are problems.
   */
  readonly tags: 'core' | 'collections';
  /** Whether unquoted dates are dates; else they are text, as in JSON. */
  readonly dates: boolean;
  /** Whether tabs may separate words. */
  readonly tabs: boolean;
  /** `refused` unless both give the same value; otherwise the last wins, with a warning. */
  readonly duplicateKeys: 'refused' | 'last-wins';
  readonly codeOf: (kind: YamlProblem['kind']) => string;
}
