import type { TreeNode } from '../../core/contracts/index.ts';
import { printable } from '../../core/text/control-characters.ts';
import { paintFor, paintState } from './paint.ts';

/** The steps and nodes of a run as a tree of lines. */
export function treeText(tree: TreeNode, color = false): string {
  const paint = paintFor(color);
  const lines: string[] = [];
  const draw = (node: TreeNode, first: string, rest: string): void => {
    const detail = node.detail === undefined ? '' : `  ${paint.dim(printable(node.detail))}`;
    const name =
      node.kind === 'run' || node.kind === 'group' ? paint.strong(printable(node.name)) : printable(node.name);
    lines.push(`${first}${node.kind === 'group' ? 'group ' : ''}${name}  ${paintState(paint, node.state)}${detail}`);
    const children = node.children ?? [];
    children.forEach((child, at) => {
      const last = at === children.length - 1;
      draw(child, `${rest}${last ? '└─ ' : '├─ '}`, `${rest}${last ? '   ' : '│  '}`);
    });
  };
  draw(tree, '', '');
  return `${lines.join('\n')}\n`;
}
