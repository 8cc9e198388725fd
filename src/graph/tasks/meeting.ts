import { GraphProblemError } from '../problem.ts';
import type { MergedTask } from './merge-layers.ts';
import { tagPattern } from './name-pattern.ts';
import type { GraphTask } from './task.ts';

/** Whether some node has all of these tasks: `always` if any node has one of them, `perhaps` if nodes decide. */
export type Meeting = 'never' | 'perhaps' | 'always';

/** Says where tasks meet, by what places them: their tags, roles or groups, and the groups that list them. */
export class Meetings {
  readonly #tasks: ReadonlyMap<string, GraphTask>;
  readonly #listing = new Map<string, GraphTask[]>();

  constructor(tasks: readonly Pick<MergedTask, 'task'>[]) {
    this.#tasks = new Map(tasks.map(({ task }) => [task.id, task]));
    for (const { task } of tasks) {
      if (task.type !== 'group' || !Array.isArray(task.tasks)) continue;
      for (const id of new Set(task.tasks as readonly unknown[]))
        if (typeof id === 'string') this.#listing.set(id, [...(this.#listing.get(id) ?? []), task]);
    }
  }

  /** Tasks without any place count as being with the others: what they lack is told elsewhere. */
  of(ids: readonly string[]): Meeting {
    const places = ids.map((id) => this.#placesOf(id)).filter((names) => names.size > 0 && !names.has(EVERYWHERE));
    const single = new Set(places.flatMap((names) => (names.size === 1 ? [...names] : [])));
    // A node that is the primary one of a tag does not have the plain tag.
    if ([...single].some((tag) => single.has(`primary-${tag}`))) return 'never';
    const [first, ...others] = places.sort(
      (a, b) => Number(hasPatterns(a)) - Number(hasPatterns(b)) || a.size - b.size,
    );
    let common = first === undefined ? undefined : [...first];
    for (const names of others) common = common?.filter((place) => covers(names, place));
    return common === undefined || common.length > 0 ? 'always' : 'perhaps';
  }

  #placesOf(id: string): ReadonlySet<string> {
    const task = this.#tasks.get(id);
    const own = task === undefined ? [] : this.#ownPlaces(task);
    return new Set([...own, ...(this.#listing.get(id) ?? []).flatMap((group) => this.#ownPlaces(group))]);
  }

  #ownPlaces({ tags, roles, groups }: GraphTask): readonly string[] {
    const named = [tags, roles].map(textsOf).find((names) => names.length > 0);
    if (named !== undefined) return named;
    return textsOf(groups).flatMap((name) => {
      const group = this.#tasks.get(name);
      const meant =
        group === undefined ? [] : ([group.tags, group.roles].map(textsOf).find((names) => names.length > 0) ?? []);
      // A group that is not here is placed by its name.
      return meant.length > 0 ? meant : [name];
    });
  }
}

const EVERYWHERE = '*';

/** Names as a list; an expression is itself one, equal to no other. */
function textsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? (value as readonly unknown[]) : [value]).map((one) =>
    typeof one === 'string' ? one : JSON.stringify(one),
  );
}

const isPattern = (name: string): boolean => /^\/.*\/$|\*/s.test(name);

const hasPatterns = (names: ReadonlySet<string>): boolean => [...names].some(isPattern);

const covers = (names: ReadonlySet<string>, place: string): boolean =>
  names.has(place) || [...names].some((name) => isPattern(name) && matches(name, place));

function matches(pattern: string, place: string): boolean {
  try {
    return tagPattern(pattern).matches(place);
  } catch (error) {
    // A pattern that cannot be read has its own problem.
    if (error instanceof GraphProblemError) return false;
    throw error;
  }
}
