import { Kind, type Value, ValueObject } from '../values/kind.ts';
import type { FunctionDefinition } from './function-definition.ts';
import type { Runtime } from './limits.ts';
import { Overloads } from './overloads.ts';

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
