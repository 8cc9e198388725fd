import { YaqlError, type YaqlErrorClass } from '../errors.ts';
import type { Node } from '../language/syntax-tree.ts';
import { type Kind, kindOf, type Value } from '../values/kind.ts';
import type { Code, StaticArgument } from './code.ts';
import type { Candidates, FunctionDefinition } from './context.ts';
import type { Parameter, ParameterType } from './parameter.ts';
import { isLazy, isSpecialization } from './parameters.ts';
import { Winner } from './winner.ts';

/** Arguments of a call; a null position was skipped. */
export interface StaticCall {
  readonly positional: readonly (StaticArgument | null)[];
  readonly named: ReadonlyMap<string, StaticArgument>;
}

/** The parameters that the arguments of a call fall to. */
interface Mapping {
  readonly positional: readonly Parameter[];
  readonly named: ReadonlyMap<string, Parameter>;
}

interface Survivor {
  readonly definition: FunctionDefinition;
  readonly mapping: Mapping;
}

/** Known facts of a call before its arguments are evaluated. */
export interface Plan {
  /** Set when the call fails whatever its arguments turn out to be. */
  readonly failure: YaqlErrorClass | null;
  readonly candidates: Candidates;
  readonly call: StaticCall;
  readonly names: readonly string[];
  /** Which arguments are to be evaluated before the call. */
  readonly evaluated: readonly boolean[];
  readonly evaluatedNamed: readonly boolean[];
  readonly layers: readonly (readonly Survivor[])[];
  /** Outcomes by the kinds of the evaluated arguments. */
  readonly outcomes: Map<number | string, Winner | YaqlErrorClass>;
}

export const constantKind = (node: Node): Kind | -1 => (node.type === 'constant' ? kindOf(node.value) : -1);

const ruleCount = (call: StaticCall): number => call.positional.filter((a) => a?.code?.node.type === 'rule').length;

/** Turns `name => value` arguments into named ones; null when a name is not a bare word. */
function translate(call: StaticCall, codeOf: (rule: Code) => Code): StaticCall | null {
  if (ruleCount(call) === 0) return call;
  const named = new Map(call.named);
  const positional: (StaticArgument | null)[] = [];
  for (const argument of call.positional) {
    const node = argument?.code?.node;
    if (node?.type !== 'rule') {
      positional.push(argument);
      continue;
    }
    if (node.source.type !== 'constant' || !node.source.keyword) return null;
    named.set(node.source.value as string, {
      code: codeOf(argument?.code as Code),
      kind: constantKind(node.destination),
    });
  }
  return { positional, named };
}

/**
 * Keeps the overloads that the number and names of arguments and the constants among them fit, and finds which arguments
 * they leave unevaluated; all must agree on that. `destinationOf` gives the right side of a rule.
 */
export function planCall(
  candidates: Candidates,
  call: StaticCall,
  destinationOf: (rule: Code) => Code,
  iterableDicts: boolean,
): Plan {
  const fail = (failure: YaqlErrorClass): Plan => ({
    failure,
    candidates,
    call,
    names: [],
    evaluated: [],
    evaluatedNamed: [],
    layers: [],
    outcomes: new Map(),
  });
  const all = candidates.layers.flat();
  if (all.length === 0)
    return fail(candidates.isMethod ? 'NoMethodRegisteredException' : 'NoFunctionRegisteredException');
  const keepsRules = (all[0] as FunctionDefinition).keepsRules;
  let actual: StaticCall = call;
  if (keepsRules) {
    if (call.named.size > 0) return fail('ArgumentException');
  } else {
    const translated = translate(call, destinationOf);
    if (translated === null) return fail('MappingTranslationException');
    actual = translated;
  }
  const ambiguous = candidates.isMethod ? 'AmbiguousMethodException' : 'AmbiguousFunctionException';
  if (all.some((d) => d.keepsRules !== keepsRules)) return fail(ambiguous);

  let laziness: string | null = null;
  let lazyPositions: ReadonlySet<number | string> = new Set();
  const layers: Survivor[][] = [];
  for (const layer of candidates.layers) {
    const survivors: Survivor[] = [];
    for (const definition of layer) {
      const mapping = mapArguments(definition, actual, iterableDicts);
      if (mapping === null) continue;
      const lazy = new Set<number | string>();
      mapping.positional.forEach((parameter, i) => {
        if (isLazy(parameter.type)) lazy.add(i);
      });
      for (const [name, parameter] of mapping.named) if (isLazy(parameter.type)) lazy.add(name);
      const key = [...lazy].map(String).sort().join('\0');
      if (laziness !== null && laziness !== key) return fail(ambiguous);
      laziness = key;
      lazyPositions = lazy;
      survivors.push({ definition, mapping });
    }
    if (survivors.length > 0) layers.push(survivors);
  }
  if (layers.length === 0)
    return fail(candidates.isMethod ? 'NoMatchingMethodException' : 'NoMatchingFunctionException');
  const names = [...actual.named.keys()];
  const needed = (argument: StaticArgument | null | undefined, key: number | string): boolean =>
    argument !== null &&
    argument !== undefined &&
    argument.code !== null &&
    argument.kind === -1 &&
    !lazyPositions.has(key);
  return {
    failure: null,
    candidates,
    call: actual,
    names,
    evaluated: actual.positional.map((a, i) => needed(a, i)),
    evaluatedNamed: names.map((name) => needed(actual.named.get(name), name)),
    layers,
    outcomes: new Map(),
  };
}

/** Whether a parameter takes an argument; an expression whose value is not known yet passes for a value parameter. */
function takes(type: ParameterType, code: Code | null, kind: Kind | -1, iterableDicts: boolean): boolean {
  switch (type.role) {
    case 'value': {
      if (kind === -1) return true;
      if (((type.accepts >> kind) & 1) === 1) return true;
      return iterableDicts && type.iterable && (kind === 7 || kind === 8);
    }
    case 'lambda':
      return true;
    case 'method-lambda':
      return code === null || code.runMethod !== null;
    case 'expression':
      return code !== null;
    case 'keyword':
    case 'keyword-expression':
      return code !== null && code.node.type === 'constant' && code.node.keyword;
    case 'lazy-rule':
      return code !== null && code.node.type === 'rule';
  }
}

function mapArguments(definition: FunctionDefinition, call: StaticCall, iterableDicts: boolean): Mapping | null {
  const { positional: args, named } = call;
  const remaining = new Set(named.keys());
  const positional: (Parameter | null)[] = args.map((a) => (a === null ? null : definition.rest));
  const byName = new Map<string, Parameter>();
  const count = definition.parameters.length;
  for (let i = 0; i < count; i++) {
    const parameter = definition.parameters[i] as Parameter;
    const given = i < args.length && args[i] !== null;
    if (given) {
      if (named.has(parameter.name)) return null;
      positional[i] = parameter;
    } else if (remaining.delete(parameter.name)) byName.set(parameter.name, parameter);
    else if (parameter.required) return null;
    else if (i < args.length) positional[i] = parameter;
  }
  if (remaining.size > 0) {
    if (definition.keywords === null) return null;
    for (const name of remaining) {
      const argument = named.get(name) as StaticArgument;
      if (!takes(definition.keywords.type, argument.code, argument.kind, iterableDicts)) return null;
      byName.set(name, definition.keywords);
    }
  }
  for (let i = 0; i < args.length; i++) {
    const parameter = positional[i];
    const argument = args[i];
    if (parameter === null || parameter === undefined) return null;
    if (argument === null || argument === undefined) continue;
    if (!takes(parameter.type, argument.code, argument.kind, iterableDicts)) return null;
  }
  return { positional: positional as Parameter[], named: byName };
}

/** Picks the overload for the kinds the evaluated arguments turned out to have. */
export function chooseOverload(
  plan: Plan,
  kinds: readonly (Kind | -1)[],
  namedKinds: readonly (Kind | -1)[],
  iterableDicts: boolean,
): Winner | YaqlErrorClass {
  const { candidates } = plan;
  for (const layer of plan.layers) {
    let best: Survivor | null = null;
    for (const survivor of layer) {
      if (!fits(survivor.definition, plan, kinds, namedKinds, iterableDicts)) continue;
      if (best === null) best = survivor;
      else if (isMoreSpecial(best.mapping, survivor.mapping)) continue;
      else if (isMoreSpecial(survivor.mapping, best.mapping)) best = survivor;
      else return candidates.isMethod ? 'AmbiguousMethodException' : 'AmbiguousFunctionException';
    }
    if (best !== null) return new Winner(best.definition, plan);
  }
  return candidates.isMethod ? 'NoMatchingMethodException' : 'NoMatchingFunctionException';
}

function fits(
  definition: FunctionDefinition,
  plan: Plan,
  kinds: readonly (Kind | -1)[],
  namedKinds: readonly (Kind | -1)[],
  iterableDicts: boolean,
): boolean {
  const { positional: args } = plan.call;
  const remaining = new Set(plan.names);
  const count = definition.parameters.length;
  const named = (name: string, type: ParameterType): boolean => {
    const kind = namedKinds[plan.names.indexOf(name)] as Kind | -1;
    return takes(type, plan.call.named.get(name)?.code ?? null, kind, iterableDicts);
  };
  for (let i = 0; i < count; i++) {
    const parameter = definition.parameters[i] as Parameter;
    if (i < args.length && args[i] !== null) {
      if (remaining.has(parameter.name)) return false;
      if (!takes(parameter.type, args[i]?.code ?? null, kinds[i] as Kind | -1, iterableDicts)) return false;
    } else if (remaining.delete(parameter.name)) {
      if (!named(parameter.name, parameter.type)) return false;
    } else if (parameter.required) return false;
  }
  for (let i = count; i < args.length; i++) {
    if (definition.rest === null || args[i] === null) return false;
    if (!takes(definition.rest.type, args[i]?.code ?? null, kinds[i] as Kind | -1, iterableDicts)) return false;
  }
  for (const name of remaining) {
    if (definition.keywords === null || !named(name, definition.keywords.type)) return false;
  }
  return true;
}

function isMoreSpecial(a: Mapping, b: Mapping): boolean {
  let result = false;
  const compare = (x: Parameter, y: Parameter): boolean => {
    if (isSpecialization(y.type, x.type)) return false;
    if (isSpecialization(x.type, y.type)) result = true;
    return true;
  };
  const n = Math.min(a.positional.length, b.positional.length);
  for (let i = 0; i < n; i++) if (!compare(a.positional[i] as Parameter, b.positional[i] as Parameter)) return false;
  for (const [name, parameter] of a.named) {
    const other = b.named.get(name);
    if (other !== undefined && !compare(parameter, other)) return false;
  }
  return result;
}

/** Key of a list of kinds; numbers as long as they stay exact. */
export function kindsKey(
  kinds: readonly (Kind | -1)[],
  namedKinds: readonly (Kind | -1)[],
  iterableDicts: boolean,
): number | string {
  if (kinds.length + namedKinds.length > 9) return `${iterableDicts}${kinds.join()}|${namedKinds.join()}`;
  let key = iterableDicts ? 1 : 0;
  for (const kind of kinds) key = key * 32 + kind + 1;
  for (const kind of namedKinds) key = key * 32 + kind + 1;
  return key;
}

/** The error of a call that no overload takes. */
export function resolutionError(
  failure: YaqlErrorClass,
  candidates: Candidates,
  receiver: Value | undefined,
): YaqlError {
  const shown = candidates.name;
  const on = candidates.isMethod && receiver !== undefined ? ' for the receiver' : '';
  switch (failure) {
    case 'NoFunctionRegisteredException':
      return new YaqlError(failure, `Unknown function "${shown}"`);
    case 'NoMethodRegisteredException':
      return new YaqlError(failure, `Unknown method "${shown}"${on}`);
    case 'NoMatchingFunctionException':
      return new YaqlError(failure, `No function "${shown}" matches supplied arguments`);
    case 'NoMatchingMethodException':
      return new YaqlError(failure, `No method "${shown}"${on} matches supplied arguments`);
    case 'MappingTranslationException':
      return new YaqlError(failure, 'Cannot convert mapping to keyword argument: a name must be a bare word');
    case 'ArgumentException':
      return new YaqlError(failure, `"${shown}" takes no keyword arguments`);
    default:
      return new YaqlError(failure, `Ambiguous ${candidates.isMethod ? 'method' : 'function'} "${shown}"`);
  }
}
