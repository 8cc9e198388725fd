/** A mapping from JSON or YAML. */
export type Mapping = Readonly<Record<string, unknown>>;

export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keys and indexes from the root of a value to a part of it, e.g. `['data', 'groups', 2]`. */
export type ValuePath = readonly (string | number)[];

/** `data.groups[2].depends_on[0]`. Keys with other characters are quoted: `roles["a b"]`. */
export function printPath(path: ValuePath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** The value at the path, or undefined. */
export function valueAt(root: unknown, path: ValuePath): unknown {
  let value = root;
  for (const step of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/** Sets an own key of any name: in a user's file, `__proto__` is a key like any other. */
export function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The kind of a value, for messages: a list, a mapping, text, a number. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'bigint') return 'a number';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}
