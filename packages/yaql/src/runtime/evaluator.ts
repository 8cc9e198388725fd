import type { Argument, Node } from '../language/syntax-tree.ts';
import { MappingRule } from '../values/collections.ts';
import type { Value } from '../values/kind.ts';
import { CallSite } from './call-site.ts';
import type { Code } from './code.ts';
import type { Context } from './context.ts';

/** Compiles a tree. */
export function compile(node: Node): Code {
  switch (node.type) {
    case 'constant': {
      const { value } = node;
      return new SimpleCode(node, () => value);
    }
    case 'variable': {
      const { name } = node;
      return new SimpleCode(node, (context) => {
        const value = context.variable(name);
        const runtime = context.runtime;
        if (runtime.quota > 0) runtime.checkMemory(value);
        return value;
      });
    }
    case 'wrap': {
      const inner = compile(node.inner);
      return new SimpleCode(node, (context) => inner.run(context));
    }
    case 'rule':
      return new RuleCode(node, compile(node.source), compile(node.destination));
    case 'call':
      return new CallCode(node, node.name, compileArguments(node.args), true);
    case 'binary':
      return new CallCode(node, node.name, [compile(node.left), compile(node.right)], false);
    case 'unary':
      return new CallCode(node, node.name, [compile(node.operand)], false);
    case 'index':
      return new CallCode(node, '#indexer', [compile(node.value), ...compileArguments(node.args)], false);
    case 'list':
      return new CallCode(node, '#list', compileArguments(node.args), false);
    case 'map':
      return new CallCode(node, '#map', compileArguments(node.args), false);
  }
}

const compileArguments = (args: readonly Argument[]): (Code | null)[] =>
  args.map((a) => (a === null ? null : compile(a)));

const destinationOf = (rule: Code): Code => (rule as RuleCode).destination;

abstract class BaseCode implements Code {
  abstract readonly node: Node;
  abstract readonly runMethod: ((context: Context, receiver: Value) => Value) | null;
  abstract run(context: Context): Value;
  #dotSite: CallSite | null = null;

  dot(context: Context, receiver: Value): Value {
    this.#dotSite ??= new CallSite('#operator_.', this.node, [this], destinationOf, 'function-with-value');
    return this.#dotSite.invoke(context, receiver);
  }
}

class SimpleCode extends BaseCode {
  override readonly node: Node;
  override readonly runMethod = null;
  override readonly run: (context: Context) => Value;

  constructor(node: Node, run: (context: Context) => Value) {
    super();
    this.node = node;
    this.run = run;
  }
}

class RuleCode extends BaseCode {
  override readonly node: Node;
  override readonly runMethod = null;
  readonly source: Code;
  readonly destination: Code;

  constructor(node: Node, source: Code, destination: Code) {
    super();
    this.node = node;
    this.source = source;
    this.destination = destination;
  }

  override run(context: Context): Value {
    return new MappingRule(this.source.run(context), this.destination.run(context));
  }
}

class CallCode extends BaseCode {
  override readonly node: Node;
  override readonly runMethod: ((context: Context, receiver: Value) => Value) | null;
  readonly #site: CallSite;

  constructor(node: Node, name: string, args: readonly (Code | null)[], asMethod: boolean) {
    super();
    this.node = node;
    this.#site = new CallSite(name, node, args, destinationOf, 'function');
    if (asMethod) {
      const method = new CallSite(name, node, args, destinationOf, 'method');
      this.runMethod = (context, receiver) => method.invoke(context, receiver);
    } else this.runMethod = null;
  }

  override run(context: Context): Value {
    return this.#site.invoke(context, undefined);
  }
}
