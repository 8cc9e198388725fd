import { isMapping } from '../core/plain-value.js';
import { canonicalJson } from '../documents/index.js';
import type { AnyChoice, Fields, PlanInput } from '../graph/index.js';

type EarlierChoice = NonNullable<PlanInput['anyChoices']>[number];

/** What `policy: any` took before, as a cluster keeps it: by the tags it chose among. */
export function choicesOf(stored: Fields): readonly EarlierChoice[] {
  return Object.values(stored).flatMap((one) =>
    isMapping(one) && Array.isArray(one.roles) && Array.isArray(one.chosen)
      ? [{ roles: one.roles, chosen: one.chosen.map(String) }]
      : [],
  );
}

/** The stored choices with those of a new plan; choices of graphs that were not planned now stay. */
export function choicesToStore(stored: Fields, choices: readonly AnyChoice[]): Fields {
  const now = choices.map(({ roles, chosen }) => [canonicalJson(roles), { roles, chosen }]);
  return { ...stored, ...Object.fromEntries(now) };
}
