import { type Kind, kindOf, type Value } from '../values/kind.ts';
import { functionKey } from './call-site.ts';
import type { StaticArgument } from './code.ts';
import type { Candidates, Context } from './context.ts';
import { chooseOverload, type Plan, planCall, resolutionError } from './resolution.ts';
import type { Winner } from './winner.ts';

const noRules = (): never => {
  throw new Error('values contain no rules');
};

/** Calls a function of the language with values, through whatever overloads the context has. */
export function callFunction(
  context: Context,
  name: string,
  args: readonly Value[],
  named?: ReadonlyMap<string, Value>,
): Value {
  return call(context, context.lookup(functionKey(name)).functions, args, named);
}

/** The same for a method; the receiver is the first of the arguments. */
export function callMethod(
  context: Context,
  name: string,
  args: readonly Value[],
  named?: ReadonlyMap<string, Value>,
): Value {
  return call(context, context.lookup(functionKey(name)).methods, args, named);
}

function call(
  context: Context,
  candidates: Candidates,
  args: readonly Value[],
  named?: ReadonlyMap<string, Value>,
): Value {
  context.runtime.step();
  const namedValues = named === undefined ? [] : [...named.values()];
  const winner = resolve(context, candidates, args, named);
  return winner.invoke(context, args, namedValues);
}

function resolve(
  context: Context,
  candidates: Candidates,
  args: readonly Value[],
  named: ReadonlyMap<string, Value> | undefined,
): Winner {
  const iterableDicts = context.runtime.options.iterableDicts;
  const kinds = args.map(kindOf);
  const names = named === undefined ? [] : [...named.keys()];
  const namedKinds = names.map((name) => kindOf((named as ReadonlyMap<string, Value>).get(name) as Value));
  const key = `${iterableDicts}${kinds.join()}|${names.join('\0')}|${namedKinds.join()}`;
  let plan = candidates.plans.get(key) as Plan | undefined;
  if (plan === undefined) {
    const positional: StaticArgument[] = kinds.map((kind) => ({ code: null, kind }));
    const namedArguments = new Map(names.map((name, i) => [name, { code: null, kind: namedKinds[i] as Kind }]));
    plan = planCall(candidates, { positional, named: namedArguments }, noRules, iterableDicts);
    candidates.plans.set(key, plan);
  }
  if (plan.failure !== null) throw resolutionError(plan.failure, candidates, args[0]);
  let outcome = plan.outcomes.get(0);
  if (outcome === undefined) {
    outcome = chooseOverload(plan, kinds, namedKinds, iterableDicts);
    plan.outcomes.set(0, outcome);
  }
  if (typeof outcome === 'string') throw resolutionError(outcome, candidates, args[0]);
  return outcome;
}

/** A function of two values that will be called often: `#operator_+` of a sum, `#operator_<` of a sort. */
export function binaryFunction(context: Context, name: string): (a: Value, b: Value) => Value {
  const candidates = context.lookup(name).functions;
  const winners: (Winner | undefined)[] = [];
  return (a, b) => {
    const key = kindOf(a) * 32 + kindOf(b);
    let winner = winners[key];
    if (winner === undefined) {
      winner = resolve(context, candidates, [a, b], undefined);
      winners[key] = winner;
    }
    return winner.invoke(context, [a, b], []);
  };
}
