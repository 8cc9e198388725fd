import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** A test or a group of tests as its file calls it; titles of `each` with their placeholders. */
interface NamedTest {
  /** With the names of its groups before it: `a graph > is merged by id`. */
  readonly name: string;
  /** Where its call starts in the file. */
  readonly start: number;
}

/** The tests of a file and their groups, in the order of the file. */
export function namedTests(path: string): readonly NamedTest[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const found: NamedTest[] = [];
  const visit = (node: ts.Node, above: readonly string[]): void => {
    const title =
      ts.isCallExpression(node) && makesTests(node.expression) ? titleOf(node.arguments[0], source) : undefined;
    const full = title === undefined ? above : [...above, title];
    if (title !== undefined) found.push({ name: full.join(' > '), start: node.getStart(source) });
    ts.forEachChild(node, (child) => visit(child, full));
  };
  visit(source, []);
  return found;
}

/** Whether it is `it` or `describe`, or derived from them: `it.each(…)`, `describe.skipIf(…)`, `onServer(…)` of rig/temporal.ts. */
function makesTests(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return ['it', 'describe', 'onServer'].includes(callee.text);
  if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) return makesTests(callee.expression);
  return ts.isTaggedTemplateExpression(callee) && makesTests(callee.tag);
}

function titleOf(title: ts.Expression | undefined, source: ts.SourceFile): string | undefined {
  if (title === undefined) return undefined;
  if (ts.isStringLiteralLike(title)) return title.text;
  return ts.isTemplateExpression(title) ? title.getText(source).slice(1, -1) : undefined;
}
