import { createTaskEngine, YaqlError } from '@sitewright/yaql';

/** An engine that only parses; it caches every expression. */
const parser = createTaskEngine({ cacheSize: 20_000 });

/** Why a YAQL expression cannot be parsed, for a message; undefined if it can. */
export function syntaxProblem(expression: string): { readonly message: string; readonly hint: string } | undefined {
  try {
    parser.parse(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof YaqlError)) throw error;
    const { place } = error;
    const where = place === null ? '' : ` at line ${place.line}, column ${place.column} of the expression`;
    return {
      message: `${error.errorClass}: ${error.message}${where}`,
      hint: error.caret() || 'Correct the expression.',
    };
  }
}
