/**
 * Everything that can go wrong in an expression is a {@link YaqlError}. `errorClass` is the discriminant and
 * carries the class name of the reference implementation (yaql 3.2.0) or of the Python exception it lets through,
 * so that rules written against either keep working.
 */
export type YaqlErrorClass =
  // parsing
  | 'YaqlLexicalException'
  | 'YaqlGrammarException'
  // resolution
  | 'NoFunctionRegisteredException'
  | 'NoMethodRegisteredException'
  | 'NoMatchingFunctionException'
  | 'NoMatchingMethodException'
  | 'AmbiguousFunctionException'
  | 'AmbiguousMethodException'
  | 'MappingTranslationException'
  | 'ArgumentException'
  | 'InvalidMethodException'
  | 'InvalidOperatorTableException'
  // quotas
  | 'CollectionTooLargeException'
  | 'MemoryQuotaExceededException'
  | 'StepQuotaExceededException'
  | 'RecursionError'
  // exceptions of Python's own that library functions let through
  | 'KeyError'
  | 'IndexError'
  | 'ZeroDivisionError'
  | 'TypeError'
  | 'ValueError'
  | 'OverflowError'
  | 'StopIteration'
  | 'AssertionError'
  | 'AttributeError'
  | 're.error'
  | 'UnicodeDecodeError'
  | 'UnicodeEncodeError'
  | 'RuntimeError'
  | 'ParserError'
  | 'RepresenterError'
  // a function the host registered threw something that is not a YaqlError
  | 'HelperError';

const ancestors: Partial<Record<YaqlErrorClass, readonly string[]>> = {
  YaqlLexicalException: ['YaqlParsingException', 'YaqlException'],
  YaqlGrammarException: ['YaqlParsingException', 'YaqlException'],
  NoFunctionRegisteredException: ['FunctionResolutionError', 'ResolutionError', 'YaqlException'],
  NoMatchingFunctionException: ['FunctionResolutionError', 'ResolutionError', 'YaqlException'],
  AmbiguousFunctionException: ['FunctionResolutionError', 'ResolutionError', 'YaqlException'],
  NoMethodRegisteredException: ['MethodResolutionError', 'ResolutionError', 'YaqlException'],
  NoMatchingMethodException: ['MethodResolutionError', 'ResolutionError', 'YaqlException'],
  AmbiguousMethodException: ['MethodResolutionError', 'ResolutionError', 'YaqlException'],
  MappingTranslationException: ['YaqlException'],
  ArgumentException: ['YaqlException'],
  InvalidMethodException: ['YaqlException'],
  InvalidOperatorTableException: ['YaqlException'],
  CollectionTooLargeException: ['YaqlException'],
  MemoryQuotaExceededException: ['YaqlException'],
  StepQuotaExceededException: ['YaqlException'],
  RecursionError: ['RuntimeError'],
  KeyError: ['LookupError'],
  IndexError: ['LookupError'],
  ZeroDivisionError: ['ArithmeticError'],
  OverflowError: ['ArithmeticError'],
  UnicodeDecodeError: ['UnicodeError', 'ValueError'],
  UnicodeEncodeError: ['UnicodeError', 'ValueError'],
  ParserError: ['ValueError'],
  RepresenterError: ['YAMLError'],
  HelperError: ['YaqlException'],
};

/** Where in an expression something is. Lines and columns are 1-based and count code points. */
export interface SourcePlace {
  /** Offset from the start of the expression, in code points, 0-based (as the reference implementation counts). */
  readonly position: number;
  readonly line: number;
  readonly column: number;
}

/** Thrown by parsing and by evaluation. Always has a place once it has left the engine. */
export class YaqlError extends Error {
  override readonly name = 'YaqlError';
  readonly errorClass: YaqlErrorClass;
  /** Names of the ancestor classes, nearest first, as the reference implementation has them. */
  readonly bases: readonly string[];
  /** The function, method or operator that was being called, when one was. */
  functionName: string | null = null;
  /** Kinds of the arguments of that call, e.g. `['string', 'integer']`. */
  argumentTypes: readonly string[] | null = null;
  /** The whole expression. */
  expression: string | null = null;
  /** Offset in UTF-16 units; see {@link place}. */
  offset: number | null = null;

  constructor(errorClass: YaqlErrorClass, message: string, options?: { offset?: number; cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.errorClass = errorClass;
    this.bases = ancestors[errorClass] ?? [];
    if (options?.offset !== undefined) this.offset = options.offset;
  }

  /** Whether the error is of that class or of a class derived from it. */
  is(className: string): boolean {
    return this.errorClass === className || this.bases.includes(className);
  }

  /** The place of the error in {@link expression}; null only while the engine has not located it yet. */
  get place(): SourcePlace | null {
    if (this.expression === null || this.offset === null) return null;
    return placeOf(this.expression, this.offset);
  }

  /** The offending line with a caret below the place, as two lines of text; empty when there is no place. */
  caret(): string {
    const place = this.place;
    if (place === null || this.expression === null) return '';
    const line = this.expression.split('\n')[place.line - 1] ?? '';
    return `${line}\n${' '.repeat(place.column - 1)}^`;
  }

  /** Class, message, place and caret, as text for the user. */
  describe(): string {
    const place = this.place;
    const where = place === null ? '' : ` (line ${place.line}, column ${place.column})`;
    const call =
      this.functionName === null || this.argumentTypes === null
        ? ''
        : `\n  in ${this.functionName}(${this.argumentTypes.join(', ')})`;
    const caret = this.caret();
    return `${this.errorClass}: ${this.message}${where}${call}${caret === '' ? '' : `\n${caret}`}`;
  }
}

/** Converts an offset in UTF-16 units to a place. */
export function placeOf(expression: string, offset: number): SourcePlace {
  const before = expression.slice(0, offset);
  let position = 0;
  for (const _ of before) position++;
  const lineStart = before.lastIndexOf('\n') + 1;
  let column = 1;
  for (const _ of before.slice(lineStart)) column++;
  return { position, line: before.split('\n').length, column };
}

export const typeError = (message: string): YaqlError => new YaqlError('TypeError', message);
export const valueError = (message: string): YaqlError => new YaqlError('ValueError', message);
