import type { ValuePath } from '../../core/data/plain-value.ts';
import { syntaxProblem } from '../../documents/expression-syntax.ts';
import { child, type DataNode, items, textOf } from '../../documents/reader/data-node.ts';
import type { Problems } from '../problems.ts';

/** Reports every expression in the fields of tasks that cannot be parsed, as an upload of the tasks does. */
export function checkTaskExpressions(tasks: DataNode | undefined, path: ValuePath, problems: Problems): void {
  for (const [at, task] of items(tasks).entries()) {
    if (task.kind !== 'mapping') continue;
    for (const [field, { value }] of task.entries)
      if (field !== 'id') checkExpressions(value, [...path, at, field], problems);
  }
}

/** The same for the tasks and node filters of a list of graphs. */
export function checkGraphExpressions(graphs: DataNode | undefined, path: ValuePath, problems: Problems): void {
  for (const [at, graph] of items(graphs).entries()) {
    checkTaskExpressions(child(graph, 'tasks'), [...path, at, 'tasks'], problems);
    const filter = child(child(graph, 'metadata'), 'node_filter');
    if (textOf(filter)?.trim()) checkSyntax(filter!, [...path, at, 'metadata', 'node_filter'], problems);
  }
}

function checkExpressions(node: DataNode, path: ValuePath, problems: Problems): void {
  if (node.kind === 'list') {
    for (const [at, item] of node.items.entries()) checkExpressions(item, [...path, at], problems);
    return;
  }
  const expression = child(node, 'yaql_exp');
  if (expression !== undefined) checkSyntax(expression, [...path, 'yaql_exp'], problems);
  else if (node.kind === 'mapping') {
    for (const [key, { value }] of node.entries) {
      // A value of `regex` is never computed.
      if (key !== 'regex') checkExpressions(value, [...path, key], problems);
    }
  }
}

function checkSyntax(node: DataNode, path: ValuePath, problems: Problems): void {
  const text = textOf(node);
  const wrong =
    text === undefined
      ? { message: `an expression must be text`, hint: 'Put the expression in quotes.' }
      : syntaxProblem(text);
  if (wrong !== undefined) problems.at(node, path, { code: 'package.bad-yaql', ...wrong });
}
