import fc from 'fast-check';

/** One line of input for `graph simulate`, as anybody might write it: all fields optional, nothing checked. */
export type RawInput = Readonly<Record<string, unknown>>;

const oneIn = (n: number): fc.Arbitrary<boolean> => fc.nat(n - 1).map((draw) => draw === 0);

const strategy = fc.oneof(
  { weight: 12, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.constant({ type: 'one_by_one' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('parallel'),
      amount: fc.constantFrom(0, 1, 2, '1', '2', ' 2 tasks', 'many'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'whatever', amount: 1 }) },
);

const tolerance = fc.constantFrom<unknown>(0, 1, 2, 3, -1, -2, '0%', '34%', '50%', '100%', '1', 'some', null);

const entry = fc.tuple(fc.nat(6), fc.constantFrom('', '/1', '/2,3', '/1-3', '/3,5-6')).map(([t, on]) => `t${t}${on}`);

/** Names of the rare ones, so that each is met often enough. */
const odd = fc.constantFrom(
  'none',
  'none',
  'none',
  'none',
  'none',
  'none',
  'none',
  'none',
  'cycle',
  'negative',
  'unknown',
  'twice',
  'empty',
  'idle',
  'syncs',
);

export interface InputShape {
  /** Nothing can stop the run: no node is critical, and no operator stops it. */
  readonly unstoppable?: boolean;
  /** Only plans that can run. */
  readonly sound?: boolean;
}

/** Inputs of all kinds, odd ones among them. Edges go from earlier to later tasks, but for the cycles. */
export function randomInputs(shape: InputShape = {}): fc.Arbitrary<RawInput> {
  return fc
    .record({
      odd: shape.sound ? fc.constant('none') : odd,
      kinds: fc.array(fc.constantFrom('node', 'node', 'node', 'sync'), { minLength: 1, maxLength: 7, size: 'max' }),
      tasks: fc.array(
        fc.record({
          id: fc.nat(6).map((n) => `t${n}`),
          node: fc.nat(6),
          type: fc.constantFrom(undefined, undefined, 'task', 'puppet', 'noop', 'stage', 'skipped'),
          forgiven: oneIn(8),
          strategy,
          ends: fc.constantFrom(undefined, undefined, undefined, undefined, 'fail', 'fail_at_start'),
        }),
        { maxLength: 26, size: 'max' },
      ),
      edges: fc.array(fc.tuple(fc.nat(25), fc.nat(25)), { maxLength: 40, size: 'max' }),
      diamonds: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 70),
      maxNodes: fc.constantFrom(undefined, 0, 1, 2, 3),
      perTask: fc.array(fc.tuple(fc.nat(7), fc.constantFrom<unknown>(0, 1, 2, '1', '2 at once')), { maxLength: 3 }),
      groups: fc.array(fc.tuple(fc.array(fc.nat(7), { maxLength: 5 }), tolerance), { maxLength: 4 }),
      open: oneIn(2),
      spared: fc.constantFrom(1, 2, 7),
      offline: fc.array(fc.nat(6), { maxLength: 2 }),
      reachable: oneIn(2),
      subgraphs: fc.array(
        fc.record({ start: fc.array(entry, { maxLength: 2 }), end: fc.array(entry, { maxLength: 2 }) }),
        { maxLength: 2 },
      ),
      whole: oneIn(2),
      stopAfter: fc.option(fc.nat(20), { nil: undefined }),
    })
    .map((draw) => {
      const kinds = draw.odd === 'empty' ? [] : draw.odd === 'syncs' ? draw.kinds.map(() => 'sync') : draw.kinds;
      const nodes = kinds.map((kind, n) => ({ id: `${n + 1}`, ...(kind === 'node' && n % 2 === 1 ? {} : { kind }) }));
      const taken = new Set<string>();
      const outcomes: Record<string, string> = {};
      const tasks = (nodes.length === 0 || draw.odd === 'idle' ? [] : draw.tasks).flatMap((task) => {
        const node = nodes[task.node % nodes.length]!.id;
        const key = `${task.id}@${node}`;
        if (taken.has(key)) return [];
        taken.add(key);
        if (task.ends !== undefined) outcomes[key] = task.ends;
        const { id, type } = task;
        return [
          {
            id,
            node,
            ...(type === undefined ? {} : { type }),
            ...(task.forgiven ? { fail_on_error: false } : {}),
            ...(task.strategy === undefined ? {} : { strategy: task.strategy }),
          },
        ];
      });
      const keys = tasks.map(({ id, node }) => `${id}@${node}`);
      // From lower to higher numbers, a task to itself and the same edge twice included.
      const edges = draw.edges.flatMap(([a, b]): [string, string][] =>
        a < keys.length && b < keys.length ? [[keys[Math.min(a, b)]!, keys[Math.max(a, b)]!]] : [],
      );
      if (keys.length > 0) addDiamonds(draw.diamonds, tasks, edges);
      if (draw.odd === 'cycle' && keys.length > 1) edges.push([keys[0]!, keys[1]!], [keys[1]!, keys[0]!]);
      if (draw.odd === 'unknown') edges.push(['nothing@1', 'nothing@2']);
      if (draw.odd === 'twice' && tasks.length > 0) tasks.push(tasks[0]!);
      if (draw.odd === 'negative' && tasks.length > 0)
        tasks[0] = { ...tasks[0]!, strategy: { type: 'parallel', amount: '-1' } };
      const ids = nodes.map(({ id }) => id);
      const everyone = {
        name: 'everyone',
        node_ids: ids,
        fault_tolerance: shape.unstoppable ? ids.length : draw.spared,
      };
      const named = draw.groups.map(([members, fault_tolerance], g) => ({
        name: `g${g % 3}`,
        node_ids: [...new Set(members)].map((n) => `${n + 1}`),
        fault_tolerance: shape.unstoppable ? 100 : fault_tolerance,
      }));
      const fault_tolerance_groups = shape.unstoppable || draw.open ? [...named, everyone] : named;
      // Most often one that may be offline, so that not all runs are refused.
      const isTolerated = (id: string): boolean => fault_tolerance_groups.some(({ node_ids }) => node_ids.includes(id));
      const offline = draw.offline
        .flatMap((n) => ids[n] ?? [])
        .filter((id) => (shape.sound ? shape.unstoppable : !draw.reachable || isTolerated(id)));
      const names = new Set(tasks.map(({ id }) => id));
      const subgraphs = draw.whole
        ? []
        : draw.subgraphs.filter(({ start, end }) => !shape.sound || [...start, ...end].every((one) => names.has(one)));
      const per_task = Object.fromEntries(
        draw.perTask.map(([name, n]) => [`t${name}`, draw.odd === 'negative' && n === 2 ? -2 : n]),
      );
      return {
        id: 'random',
        nodes,
        tasks,
        edges,
        limits: { ...(draw.maxNodes === undefined ? {} : { max_nodes: draw.maxNodes }), per_task },
        fault_tolerance_groups,
        outcomes,
        offline,
        subgraphs,
        ...(draw.stopAfter === undefined || shape.unstoppable ? {} : { stop_after: draw.stopAfter }),
      };
    });
}

/** Rows of diamonds behind the last task: each doubles its weight, so that seventy outgrow 64 bits. */
function addDiamonds(count: number, tasks: { id: string; node: string }[], edges: [string, string][]): void {
  let from = tasks[tasks.length - 1]!;
  for (let n = 0; n < count; n++) {
    const [left, right, to] = ['l', 'r', 'd'].map((side) => ({ id: `${side}${n}`, node: from.node })) as [
      { id: string; node: string },
      { id: string; node: string },
      { id: string; node: string },
    ];
    tasks.push(left, right, to);
    for (const side of [left, right]) {
      edges.push([keyOf(from), keyOf(side)], [keyOf(side), keyOf(to)]);
    }
    from = to;
  }
}

const keyOf = ({ id, node }: { id: string; node: string }): string => `${id}@${node}`;
