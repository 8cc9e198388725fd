/** Limits of a text. An exceeded limit is a problem with its own code, never a crash. */
export interface ReadLimits {
  /** Size of one file, in UTF-8 bytes (`yaml.too-large`). */
  readonly maxBytes: number;
  /** Nesting of mappings and lists (`yaml.too-deep`); the parser also counts a value in a block as a level. */
  readonly maxDepth: number;
  /** Lines and commas of one file, blank lines and comments not counted (`yaml.too-many-values`): checked before reading. */
  readonly maxMarks: number;
  /** Documents in one file (`yaml.too-many-documents`). */
  readonly maxDocuments: number;
  /** Uses of anchors in one document (`yaml.too-many-aliases`). */
  readonly maxAliases: number;
  /**
   * Values that aliases and merges add to one document once written out in full
   * (`yaml.alias-expansion`): aliases of aliases multiply, and a few lines can expand to 10^9 values.
   */
  readonly maxExpandedValues: number;
  /** Values of one document in total, written or added by aliases. Default: limited only by its size. */
  readonly maxValues?: number;
}

/** Ten times the largest real site: 1,000 machines with comments take about 3 MB. */
export const DEFAULT_READ_LIMITS: ReadLimits = {
  maxBytes: 8 * 1024 * 1024,
  maxDepth: 100,
  maxMarks: 400_000,
  maxDocuments: 10_000,
  maxAliases: 10_000,
  maxExpandedValues: 200_000,
};
