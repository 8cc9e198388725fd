import { Kind, type Value, ValueObject } from '../values/kind.ts';
import type { Runtime } from './limits.ts';
import type { Parameter } from './parameter.ts';

const maxRemembered = 2000;

/** Grows whenever a change of functions may be seen from contexts that have looked them up already. */
let generation = 0;

/**
 * A frame of variables and functions. Frames form a chain; inner ones hide the variables of outer ones and add to their
 * functions. Creating one is cheap.
 */
export class Context extends ValueObject {
  readonly parent: Context | null;
  #runtime_: Runtime | null;
  /** `$`, which is `$1`. */
  first: Value | undefined = undefined;
  #variables: Map<string, Value> | null = null;
  #functions: Map<string, FunctionDefinition[]> | null = null;
  #exclusive: Set<string> | null = null;
  #hasChildren = false;
  #found: Map<string, { overloads: Overloads; generation: number }> | null = null;

  constructor(parent: Context | null, runtime: Runtime | null = null) {
    super();
    this.parent = parent;
    this.#runtime_ = runtime ?? (parent === null ? null : parent.#runtime_);
    if (parent !== null) parent.#hasChildren = true;
  }

  override get kind(): Kind {
    return Kind.Context;
  }

  /** Budgets and options of the evaluation this context takes part in. */
  get runtime(): Runtime {
    return this.#runtime_ as Runtime;
  }

  child(): Context {
    return new Context(this);
  }

  /** By name with or without the dollar sign; null when there is none. */
  variable(name: string): Value {
    const plain = plainName(name);
    for (let frame: Context | null = this; frame !== null; frame = frame.parent) {
      const value = plain === '1' ? frame.first : frame.#variables?.get(plain);
      if (value !== undefined) return value;
    }
    return null;
  }

  setVariable(name: string, value: Value): void {
    const plain = plainName(name);
    if (plain === '1') this.first = value;
    else {
      this.#variables ??= new Map();
      this.#variables.set(plain, value);
    }
  }

  /** Adds an overload to this frame; an exclusive name hides all overloads of outer frames. */
  register(definition: FunctionDefinition, exclusive = false): void {
    this.#functions ??= new Map();
    const list = this.#functions.get(definition.name);
    if (list === undefined) this.#functions.set(definition.name, [definition]);
    else list.push(definition);
    if (exclusive) {
      this.#exclusive ??= new Set();
      this.#exclusive.add(definition.name);
    }
    this.#found = null;
    if (this.#hasChildren) generation++;
  }

  /** All overloads of a name that can be seen from here. Trailing underscores of the name do not count. */
  lookup(name: string): Overloads {
    // A frame without overloads of that name adds nothing: the results of the frames behind it can be shared.
    let frame: Context = this;
    while (frame.parent !== null && frame.#functions?.has(name) !== true) frame = frame.parent;
    frame.#found ??= new Map();
    const known = frame.#found.get(name);
    if (known !== undefined && known.generation === generation) return known.overloads;
    // Names may come from data (`call(..)`): the cache of them must not grow without limit.
    if (frame.#found.size > maxRemembered) frame.#found.clear();
    const overloads = new Overloads(name, frame.#layers(name));
    frame.#found.set(name, { overloads, generation });
    return overloads;
  }

  #layers(name: string): FunctionDefinition[][] {
    const layers: FunctionDefinition[][] = [];
    for (let frame: Context | null = this; frame !== null; frame = frame.parent) {
      const own = frame.#functions?.get(name);
      if (own !== undefined && own.length > 0) layers.push(own);
      if (frame.#exclusive?.has(name) === true) break;
    }
    return layers;
  }

  /** Every overload that can be seen from here, inner frames first. */
  allFunctions(): FunctionDefinition[] {
    const all: FunctionDefinition[] = [];
    for (let frame: Context | null = this; frame !== null; frame = frame.parent)
      for (const list of frame.#functions?.values() ?? []) all.push(...list);
    return all;
  }
}

function plainName(name: string): string {
  const plain = name.charCodeAt(0) === 36 ? name.slice(1) : name;
  return plain === '' ? '1' : plain;
}

/** One overload of a function of the language. */
export interface FunctionDefinition {
  readonly name: string;
  /** Whether `f(x)` finds it. */
  readonly isFunction: boolean;
  /** Whether `x.f()` finds it. */
  readonly isMethod: boolean;
  /** `key => value` arguments arrive as they are instead of naming parameters. */
  readonly keepsRules: boolean;
  /** Runs in a context of its own, which its lambdas share: it sets variables or registers functions there. */
  readonly ownContext: boolean;
  readonly parameters: readonly Parameter[];
  readonly rest: Parameter | null;
  readonly keywords: Parameter | null;
  readonly implementation: Implementation;
  /** One paragraph for the reader of the documentation. */
  readonly documentation: string;
  /** Chapter of the documentation it belongs to. */
  readonly chapter: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the typed view of it is `Received`; storage is uniform.
export type Implementation = (context: Context, ...args: any[]) => Value;

/** The overloads of a name of one calling style, nearest frame first, with the results of resolving calls of them. */
export class Candidates {
  readonly name: string;
  readonly isMethod: boolean;
  readonly layers: readonly (readonly FunctionDefinition[])[];
  /** Plans of calls by value, by the kinds known beforehand: of value-call.ts, which alone reads and writes them. */
  readonly plans = new Map<string, unknown>();

  constructor(name: string, isMethod: boolean, layers: readonly (readonly FunctionDefinition[])[]) {
    this.name = name;
    this.isMethod = isMethod;
    this.layers = layers;
  }
}

/** All overloads of a name that a context sees. */
export class Overloads {
  readonly functions: Candidates;
  readonly methods: Candidates;

  constructor(name: string, layers: readonly (readonly FunctionDefinition[])[]) {
    const filtered = (keep: (f: FunctionDefinition) => boolean): FunctionDefinition[][] =>
      layers.map((layer) => layer.filter(keep)).filter((layer) => layer.length > 0);
    this.functions = new Candidates(
      name,
      false,
      filtered((f) => f.isFunction),
    );
    this.methods = new Candidates(
      name,
      true,
      filtered((f) => f.isMethod),
    );
  }
}
