import { alikeNodes, planSections } from '../../core/graph-run/plan-sections.ts';
import { type Answer, at } from '../kit/api.ts';
import { Fold, Loaded, State } from '../kit/parts.tsx';
import { useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { count, some } from '../kit/words.ts';
import type { Node } from './cluster-nodes.tsx';

/** At most so many nodes by name; all are in the folds below. */
const NAMED = 30;
const FOLDS = 100;

interface GraphPlanProps {
  readonly cluster: string | number;
  readonly type: string;
  /** The nodes of the cluster, for their names. */
  readonly nodes: readonly Pick<Node, 'id' | 'name'>[];
  /** Ids of the only nodes that may be touched; all where it is absent. */
  readonly only?: readonly number[] | undefined;
  readonly tasks?: readonly string[] | undefined;
  /** Treats everything as changed. */
  readonly force?: boolean;
}

/** What runs on each node, what does not, and why. */
export function GraphPlan({ cluster, type, nodes, only, tasks, force = false }: GraphPlanProps) {
  const names = new Map(nodes.map((one) => [String(one.id), one.name]));
  const nameOf = (node: string | number): string =>
    node === 'null' ? 'no node' : (names.get(String(node)) ?? String(node));
  const query = { graph_type: type, nodes: only?.join(), tasks: tasks?.join(), force: force ? '1' : '' };
  const plan = useData(at('GET /clusters/:id/plan/', { params: { id: cluster }, query }));
  if (plan.problem?.status === 404) return <p class="quiet">The cluster has no tasks of this type.</p>;
  const alike = alikeNodes(plan.data?.nodes ?? []);
  return (
    <Loaded from={plan}>
      {(data) => (
        <>
          <p class="facts">
            {count(data.totals.running, 'task')} would run on {count(data.totals.nodes, 'node')};{' '}
            {data.totals.first_time} for the first time.
            {data.nodes.length > 0 && (
              <>
                {' '}
                Touched:{' '}
                <strong>
                  {some(
                    data.nodes.filter(({ runs }) => runs.length > 0).map(({ node }) => nameOf(node)),
                    NAMED,
                  ) || 'none'}
                </strong>
                .
              </>
            )}
          </p>
          {data.warnings.length > 0 && (
            <ul class="banner plain">
              {data.warnings.map((one) => (
                <li>{one.message}</li>
              ))}
            </ul>
          )}
          {alike.slice(0, FOLDS).map((own) => (
            <Alike key={own[0]!.node} names={own.map(({ node }) => nameOf(node))} node={own[0]!} />
          ))}
          {alike.length > FOLDS && (
            <p class="quiet">
              Showing the first {FOLDS} of {alike.length} different plans of nodes.
            </p>
          )}
          {planSections(data, nameOf).map(([heading, rows]) => (
            <Reasons key={heading} heading={heading} rows={rows} />
          ))}
          <Reasons heading="omitted nodes" rows={data.left_out.map((one) => [nameOf(one.node), one.reason])} />
        </>
      )}
    </Loaded>
  );
}

/** Nodes with the same plan: one line, with the plan in its fold. */
function Alike({ names, node }: { readonly names: readonly string[]; readonly node: PlannedNode }) {
  const who = names.length === 1 ? `Node ${names[0]}` : `${names.length} nodes, ${some(names, 4)}`;
  return (
    <Fold label={`${who}: ${node.runs.length} run, ${node.skipped.length} skipped`}>
      {() => (
        <>
          {names.length > 1 && <p>{names.join(', ')}</p>}
          <PlanNode node={node} />
        </>
      )}
    </Fold>
  );
}

type PlannedNode = Answer<'GET /clusters/:id/plan/'>['nodes'][number];

const PlanNode = ({ node }: { readonly node: PlannedNode }) => (
  <Table
    label={`Plan of node ${node.node}`}
    rows={[
      ...node.runs.map((one) => ({
        ...one,
        runs: true,
        why: [one.first_time ? 'first time' : '', one.new_version ? 'new version' : '', ...one.changed]
          .filter(Boolean)
          .join('; '),
        values: [],
      })),
      ...node.skipped.map((one) => ({
        ...one,
        why: one.missed ? `new version, not run here: ${one.why}` : one.why,
        runs: false,
        placed_by: '',
      })),
    ]}
    keyOf={(one) => one.task}
    columns={[
      ['Task', (one) => one.task],
      ['', (one) => <State of={one.runs ? 'running' : 'skipped'}>{one.runs ? 'runs' : 'skipped'}</State>],
      ['Why', (one) => one.why, 'wide'],
      ['Values', (one) => one.values.join('; '), 'wide'],
      ['Placed by', (one) => one.placed_by],
    ]}
  />
);

interface ReasonsProps {
  readonly heading: string;
  readonly rows: readonly (readonly [what: string, why: string])[];
}

const Reasons = ({ heading, rows }: ReasonsProps) =>
  rows.length > 0 && (
    <>
      <h3>
        {heading[0]!.toUpperCase()}
        {heading.slice(1)}
      </h3>
      <ul class="plain">
        {rows.map(([what, why]) => (
          <li>
            <strong>{what}</strong> {why}
          </li>
        ))}
      </ul>
    </>
  );
