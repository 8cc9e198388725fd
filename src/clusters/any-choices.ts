import { isMapping } from '../core/data/plain-value.ts';
import { canonicalJson } from '../documents/index.ts';
import type { AnyChoice, Fields, PlanInput } from '../graph/index.ts';

type EarlierChoice = NonNullable<PlanInput['anyChoices']>[number];

/** Previous choices of `policy: any` as stored in a cluster, by the tags to choose from. */
export function choicesOf(stored: Fields): readonly EarlierChoice[] {
  return Object.values(stored).flatMap((one) =>
    isMapping(one) && Array.isArray(one.roles) && Array.isArray(one.chosen)
      ? [{ roles: one.roles, chosen: one.chosen.map(String) }]
      : [],
  );
}

/** Merges the choices of a new plan into the stored ones; choices of other graphs stay. */
export function choicesToStore(stored: Fields, choices: readonly AnyChoice[]): Fields {
  const now = choices.map(({ roles, chosen }) => [canonicalJson(roles), { roles, chosen }]);
  return { ...stored, ...Object.fromEntries(now) };
}
