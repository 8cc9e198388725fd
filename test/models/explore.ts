/**
 * A transition system: states are plain data, actions are all possible events in a state. A smaller model than the code, whose
 * states can all be visited.
 */
export interface Model<State> {
  readonly initial: State;
  /** Every possible action, by its name, with the state after it. */
  next(state: State): Iterable<readonly [action: string, state: State]>;
  /** Properties that hold in every state, by their sentences. */
  readonly properties: Readonly<Record<string, (state: State) => boolean>>;
}

export interface Explored {
  readonly states: number;
  /** The first property that does not hold, with a shortest way to it. */
  readonly broken?: { readonly property: string; readonly actions: readonly string[] };
}

/** Visits every state that can be reached, nearest first, and ends at the first one in which a property does not hold. */
export function explore<State>({ initial, next, properties }: Model<State>): Explored {
  interface Visited {
    readonly state: State;
    readonly action?: string;
    readonly from?: Visited;
  }
  const seen = new Set([JSON.stringify(initial)]);
  const queue: Visited[] = [{ state: initial }];
  for (let head = 0; head < queue.length; head++) {
    const visited = queue[head]!;
    const property = Object.keys(properties).find((name) => !properties[name]!(visited.state));
    if (property !== undefined) {
      const actions: string[] = [];
      for (let one: Visited | undefined = visited; one?.action !== undefined; one = one.from)
        actions.unshift(one.action);
      return { states: seen.size, broken: { property, actions } };
    }
    for (const [action, state] of next(visited.state)) {
      const key = JSON.stringify(state);
      if (seen.has(key)) continue;
      seen.add(key);
      queue.push({ state, action, from: visited });
    }
  }
  return { states: seen.size };
}
