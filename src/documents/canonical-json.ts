import { compareKeys } from '../core/text/text.ts';
/**
 * One text for one value: JSON without spaces, keys sorted by UTF-16 code units (as RFC 8785 does).
 * For plain data from YAML or JSON. Numbers that JSON cannot express (`.inf`, `.nan`) become the text
 * PyYAML writes for them, so that two different documents never look alike. `undefined` members are left out.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(compareKeys)
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  throw new TypeError(`a ${typeof value} has no JSON form`);
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return JSON.stringify(value);
  if (Number.isNaN(value)) return '.nan';
  return value > 0 ? '.inf' : '-.inf';
}
