import type { Node } from '../language/syntax-tree.js';
import type { Value } from '../values/kind.js';
import type { Context } from './context.js';

/** An expression made ready to run. Belongs to one parsed expression and keeps what its calls have learned. */
export interface Code {
  readonly node: Node;
  run(context: Context): Value;
  /** Set for calls only: runs the call as a method of the receiver. */
  readonly runMethod: ((context: Context, receiver: Value) => Value) | null;
  /** Runs `receiver . this`, through whatever `.` means in the context. */
  dot(context: Context, receiver: Value): Value;
}
