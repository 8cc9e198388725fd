import type { Float, Integer } from '../values/numbers.ts';

/** Half-open range in the expression, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type ConstantValue = null | boolean | Integer | Float | string;

/** A parsed expression. Plain data: the evaluator and the printer give it meaning. */
export type Node =
  | ConstantNode
  | VariableNode
  | CallNode
  | BinaryNode
  | UnaryNode
  | IndexNode
  | ListNode
  | MapNode
  | WrapNode
  | RuleNode;

/** A literal; a bare word (`keyword`) is a string that may also name an attribute or an argument. */
export interface ConstantNode extends Span {
  readonly type: 'constant';
  readonly value: ConstantValue;
  readonly keyword: boolean;
}
/** `$name`; the name is kept with its dollar sign. */
interface VariableNode extends Span {
  readonly type: 'variable';
  readonly name: string;
}
interface CallNode extends Span {
  readonly type: 'call';
  readonly name: string;
  readonly args: readonly Argument[];
}
interface BinaryNode extends Span {
  readonly type: 'binary';
  readonly operator: string;
  /** Name of the function behind the operator. */
  readonly name: string;
  readonly left: Node;
  readonly right: Node;
  /** Position of the operator itself. */
  readonly at: number;
}
interface UnaryNode extends Span {
  readonly type: 'unary';
  readonly operator: string;
  readonly name: string;
  readonly operand: Node;
  readonly suffix: boolean;
}
interface IndexNode extends Span {
  readonly type: 'index';
  readonly value: Node;
  readonly args: readonly Argument[];
}
interface ListNode extends Span {
  readonly type: 'list';
  readonly args: readonly Argument[];
}
interface MapNode extends Span {
  readonly type: 'map';
  readonly args: readonly Argument[];
}
/** Parentheses. */
interface WrapNode extends Span {
  readonly type: 'wrap';
  readonly inner: Node;
}
/** `key => value` inside an argument list. */
interface RuleNode extends Span {
  readonly type: 'rule';
  readonly source: Node;
  readonly destination: Node;
}

/** null is a skipped position: `f(,1)`. */
export type Argument = Node | null;
