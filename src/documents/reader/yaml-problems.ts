import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { excerpt, type SourceRange } from './source-text.ts';

/** A problem in the values of a document. */
export type YamlProblem =
  | {
      readonly kind: 'duplicate-key';
      readonly key: string;
      /** Where the key was first. */
      readonly first: SourceRange;
      readonly refused: boolean;
      readonly same: boolean;
    }
  | { readonly kind: 'complex-key' | 'merge-value' | 'pairs-item' | 'stray-tab' }
  | { readonly kind: 'unknown-tag'; readonly tag: string }
  | { readonly kind: 'collection-tag'; readonly tag: string; readonly pairs: boolean }
  | { readonly kind: 'tag-value'; readonly tag: string; readonly text: string }
  | { readonly kind: 'control-character'; readonly character: string }
  | { readonly kind: 'impossible-date'; readonly text: string }
  | { readonly kind: 'unknown-alias'; readonly name: string; readonly known: Iterable<string> }
  | { readonly kind: 'recursive-alias'; readonly name: string }
  | { readonly kind: 'too-many-aliases'; readonly limit: number }
  | { readonly kind: 'alias-expansion'; readonly limit: number };

/** Wording of a problem, without code and place. */
export type Wording = Pick<Diagnostic, 'message' | 'hint'> & { readonly severity?: Diagnostic['severity'] };

export function wordProblem(problem: YamlProblem): Wording {
  switch (problem.kind) {
    case 'duplicate-key': {
      const { key, first, refused, same } = problem;
      const { line, column } = first.source.position(first.start);
      const message = `duplicate key '${key}'; first on line ${line}, column ${column}`;
      if (!refused)
        return {
          severity: 'warning',
          message: `${message}; this value replaces the first`,
          hint: 'Keep the one you mean.',
        };
      return same
        ? { severity: 'warning', message, hint: 'Both have the same value: remove one.' }
        : { message, hint: 'The two differ: keep the one you mean.' };
    }
    case 'complex-key':
      return { message: 'a mapping or list cannot be a key', hint: 'Quote the key if it is text.' };
    case 'unknown-tag':
      return {
        message: `the YAML tag ${problem.tag} is not allowed here`,
        hint: 'Remove the tag; quote the value if it is text.',
      };
    case 'collection-tag':
      return {
        severity: 'warning',
        message: `the YAML tag ${problem.tag} is accepted${problem.pairs ? ' as a list of [key, value] lists' : ''}; other tags are refused`,
        hint: 'Write the list or mapping without a tag.',
      };
    case 'pairs-item':
      return { message: 'an item of !!pairs must be a mapping of one key' };
    case 'tag-value':
      return { message: `'${excerpt(problem.text)}' is not a value for the tag ${problem.tag}` };
    case 'impossible-date':
      return {
        message: `'${problem.text}' looks like a date, but there is no such date`,
        hint: 'Quote it if it is text.',
      };
    case 'control-character':
      return {
        message: `the value has the control character ${problem.character}`,
        hint: 'Remove it: values may have tabs and line ends, keys no control characters at all.',
      };
    case 'stray-tab':
      return {
        message: 'not valid YAML: tab outside quotes',
        hint: 'Use spaces: the tools that packages are made for reject tabs outside quotes and text blocks.',
      };
    case 'unknown-alias':
      return {
        message: `there is no anchor '&${problem.name}' above in this document`,
        hint:
          didYouMean(problem.name, firstOf(problem.known, 1_000)) ??
          `Quote the value if you mean the text '*${problem.name}'; anchors are local to one document.`,
      };
    case 'recursive-alias':
      return {
        message: `the anchor '&${problem.name}' contains itself`,
        hint: 'A document is a finite tree: write out the inner part.',
      };
    case 'merge-value':
      return { message: "'<<' takes a mapping or a list of mappings" };
    case 'too-many-aliases':
      return {
        message: `the document uses anchors more than ${problem.limit} times`,
        hint: 'Split the document, or write out the values.',
      };
    case 'alias-expansion':
      return {
        message: `with all aliases expanded, this document has more than ${problem.limit} values`,
        hint: 'Aliases of aliases multiply: write out the values.',
      };
  }
}

function firstOf<T>(all: Iterable<T>, most: number): T[] {
  const first: T[] = [];
  for (const one of all) if (first.push(one) >= most) break;
  return first;
}

/** A hint for a syntax error. `line` is the text of its line. */
export function syntaxHint(reason: string, line: string, atEnd: boolean): string | undefined {
  if (atEnd) return 'The document ends here: a quote or bracket above is not closed.';
  if (/tab characters/.test(reason)) return 'Indent with spaces.';
  if (/^\s*(?:[-\w]+:?\s*|:\s*)?[{%@`]/.test(line) && /\{\{|^\s*[%@`]|:\s[%@`]/.test(line))
    return 'Quote a value that starts with one of { } [ ] % @ ` & * ! | >.';
  if (/bad indentation|expected ':'|multiline key|end of the stream or a document separator/.test(reason))
    return 'Check the indentation of this line and the one before; look for a missing colon or quote.';
  return /unexpected end of the stream/.test(reason) ? 'A quote or bracket is not closed.' : undefined;
}
