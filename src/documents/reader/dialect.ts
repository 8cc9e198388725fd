import type { ReadLimits } from './limits.js';
import type { YamlProblem } from './yaml-problems.js';

/** In what readers of YAML differ. */
export interface YamlDialect {
  readonly limits: ReadLimits;
  /**
   * `core`: `!!str`, `!!int` and their like, as a safe loader reads them. `collections`: those of lists and mappings,
   * with a warning, `!!pairs` and `!!omap` among them; all others are problems.
   */
  readonly tags: 'core' | 'collections';
  /** Whether plain dates are dates, or text as in JSON. */
  readonly dates: boolean;
  /** Whether tabs may separate words. */
  readonly tabs: boolean;
  /** `refused` unless both give the same value; otherwise the last wins, with a warning. */
  readonly duplicateKeys: 'refused' | 'last-wins';
  readonly codeOf: (kind: YamlProblem['kind']) => string;
}
