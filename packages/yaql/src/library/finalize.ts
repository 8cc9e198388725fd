import type { Context } from '../runtime/context.ts';
import { callFunction } from '../runtime/value-call.ts';
import { Dict, Tuple, ValueSet } from '../values/collections.ts';
import { isIterableValue, isSetLike, iterate } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';

/** How deep a result may be nested. */
const maxNesting = 1000;

/** The value of a whole expression as plain lists, dicts and, by default, sets. Consumes all iterators. */
export function finalize(context: Context, value: Value): Value {
  const { options } = context.runtime;
  if (!options.convertOutputData) return value;
  const overridden = context.lookup('#iter').functions.layers.length !== 1;
  const limit = (items: Value): Value =>
    overridden ? callFunction(context, '#iter', [items]) : context.runtime.limitIterable(items);

  const list = (items: Value, depth: number): Value[] => {
    const out: Value[] = [];
    for (const item of iterate(limit(items))) {
      context.runtime.step();
      out.push(convert(item, depth + 1));
    }
    context.runtime.checkMemory(out);
    return out;
  };
  const convert = (v: Value, depth: number): Value => {
    if (v === null || typeof v !== 'object') return v;
    if (depth > maxNesting) throw new RangeError('Maximum call stack size exceeded');
    if (v instanceof Dict) {
      limit(v);
      const out = new Dict(false);
      for (const [key, item] of v.entries()) {
        context.runtime.step();
        out.set(convert(key, depth + 1), convert(item, depth + 1));
      }
      return out;
    }
    if (isSetLike(v)) return options.convertSetsToLists ? list(v, depth) : new ValueSet(list(v, depth), false);
    if (v instanceof Tuple) return options.convertTuplesToLists ? list(v, depth) : new Tuple(list(v, depth));
    return isIterableValue(v) ? list(v, depth) : v;
  };
  return convert(value, 0);
}
