import type { SiteDifference } from '../core/contracts/strategy.ts';
import { canonicalJson, type ResolvedSite } from '../documents/index.ts';
import { type Value, valueDifferences } from './value-differences.ts';

type Change = SiteDifference['nodes'][number];

/** Compares the meaning of two revisions, not their text: nodes, groups and checks by name, after inheritance. */
export function compareSites(
  before: ResolvedSite | null,
  after: ResolvedSite,
): Omit<SiteDifference, 'site' | 'revision' | 'since'> {
  const nodes = changesOf(before?.nodes ?? [], after.nodes);
  const changed = nodes.filter(({ change }) => change !== 'removed').length;
  return {
    nodes,
    groups: changesOf(before?.strategy?.groups ?? [], after.strategy?.groups ?? []),
    checks: changesOf(before?.checks ?? [], after.checks ?? []),
    configuration: before === null ? [] : fieldsThatDiffer(before.configuration, after.configuration),
    unchanged_nodes: after.nodes.length - changed,
  };
}

/** In the order of the new revision; removed entries last. */
function changesOf(before: readonly Named[], after: readonly Named[]): Change[] {
  const known = new Map(before.map((one) => [one.name, one]));
  const wanted = new Set(after.map(({ name }) => name));
  const kept = after.flatMap((one): Change[] => {
    const earlier = known.get(one.name);
    if (earlier === undefined) return [{ name: one.name, change: 'added', fields: [], values: [] }];
    const fields = fieldsThatDiffer(earlier, one);
    const [old, now] = [earlier, one] as unknown as readonly Readonly<Record<string, Value>>[];
    const values = fields.flatMap((field) =>
      valueDifferences(field, old?.[field], now?.[field], false).map(({ path, ...value }) => ({
        field: path,
        ...value,
      })),
    );
    return fields.length === 0 ? [] : [{ name: one.name, change: 'changed', fields, values }];
  });
  const gone = before.filter(({ name }) => !wanted.has(name));
  return [...kept, ...gone.map(({ name }): Change => ({ name, change: 'removed', fields: [], values: [] }))];
}

type Named = object & { readonly name: string };

function fieldsThatDiffer(before: object, after: object): string[] {
  const [old, now] = [before, after] as readonly Readonly<Record<string, unknown>>[];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => textOf(old?.[name]) !== textOf(now?.[name])).sort();
}

const textOf = (value: unknown): string => (value === undefined ? '' : canonicalJson(value));
