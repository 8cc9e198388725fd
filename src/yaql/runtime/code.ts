import type { Node } from '../language/syntax-tree.js';
import type { Value } from '../values/kind.js';
import type { Context } from './context.js';

/** A compiled expression. Belongs to one parsed expression and caches the overloads of its calls. */
export interface Code {
  readonly node: Node;
  run(context: Context): Value;
  /** Set for calls only: runs the call as a method of the receiver. */
  readonly runMethod: ((context: Context, receiver: Value) => Value) | null;
  /** Runs `receiver . this`, through whatever `.` means in the context. */
  dot(context: Context, receiver: Value): Value;
}
