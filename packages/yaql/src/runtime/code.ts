import type { Node } from '../language/syntax-tree.ts';
import type { Kind, Value } from '../values/kind.ts';
import type { Context } from './context.ts';

/** A compiled expression. Belongs to one parsed expression and caches the overloads of its calls. */
export interface Code {
  readonly node: Node;
  run(context: Context): Value;
  /** Set for calls only: runs the call as a method of the receiver. */
  readonly runMethod: ((context: Context, receiver: Value) => Value) | null;
  /** Runs `receiver . this`, through whatever `.` means in the context. */
  dot(context: Context, receiver: Value): Value;
}

/** Known facts of an argument before evaluation. */
export interface StaticArgument {
  /** The expression; null for a value that is there already. */
  readonly code: Code | null;
  /** The kind, where it is known: for values and for constants. */
  readonly kind: Kind | -1;
}
