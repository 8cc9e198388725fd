import type { WorkflowClient } from '@temporalio/client';
import { describe, expectTypeOf, it } from 'vitest';
import type { OpenRunAnswer } from '../../../activities/contract.ts';
import type { createActivities } from '../../../activities/index.ts';
import type { GraphRunStatus } from '../../../src/core/contracts/graph-run.ts';
import type { RunStatus } from '../../../src/core/contracts/site-run.ts';
import type { SiteRunInput } from '../../../src/core/site-run/input.ts';
import type { GraphRunAction, RolloutAction, SiteRunAction, SiteRunKind } from '../../../src/core/words.ts';
import { getRun, type RunHandle, startWorkflow } from '../../../src/ops/workflow-calls.ts';
import type {
  Activities,
  GraphRunContract,
  OperatorUpdate,
  SiteRunContract,
  WorkflowContracts,
  WorkflowType,
} from '../../../workflows/contract.ts';
import type * as workflows from '../../../workflows/index.ts';
import { type Child, callActivity, type Handlers, signalParent, startChildOf } from '../../../workflows/run/border.ts';

/** Checked by the compiler: `npm run typecheck` fails where the border to Temporal loosens. Nothing of it is called. */
const options = {};
const open = {
  kind: 'deploy_site',
  site: 'dc1',
  workflow_id: 'w',
  run_id: 'r',
  started_at: '',
  parameters: {},
  answered: false,
} as const;

describe('the border of workflows', () => {
  it('calls activities by their names, with their requests, for their answers', () => {
    expectTypeOf(() => callActivity('open_run', open, options)).returns.resolves.toEqualTypeOf<OpenRunAnswer>();
    // @ts-expect-error no such activity
    expectTypeOf(() => callActivity('open_runs', open, options));
    // @ts-expect-error the site is missing
    expectTypeOf(() => callActivity('open_run', { ...open, site: undefined }, options));
    // @ts-expect-error another activity's request
    expectTypeOf(() => callActivity('close_run', open, options));
  });

  it('handles everything in the contract, and nothing else', () => {
    type Keys<Part extends keyof Handlers<GraphRunContract>> = keyof Handlers<GraphRunContract>[Part];
    expectTypeOf<Keys<'updates'>>().toEqualTypeOf<
      'opened' | 'pause' | 'resume' | 'approve' | 'reject' | RolloutAction | 'retry_task' | 'skip_task' | 'retry_node'
    >();
    expectTypeOf<Keys<'signals'>>().toEqualTypeOf<
      | 'pause'
      | 'resume'
      | 'stop'
      | 'approve'
      | 'reject'
      | RolloutAction
      | 'maas_silence'
      | 'child_gone'
      | 'probe'
      | 'from_part'
      | 'from_coordinator'
    >();
    type Answer = ReturnType<Handlers<SiteRunContract>['updates']['retry_node']['handle']>;
    expectTypeOf<Answer>().toEqualTypeOf<RunStatus | Promise<RunStatus>>();
    expectTypeOf<GraphRunStatus>().not.toExtend<Answer>();
  });

  it('starts children with their input and signals them by their names', () => {
    const graph = { id: '', input: { cluster: 1 }, summary: '' };
    expectTypeOf(() => startChildOf('execute_graph', graph)).returns.resolves.toEqualTypeOf<Child<'execute_graph'>>();
    expectTypeOf<Child<'run_graph_part'>['result']>().returns.resolves.toEqualTypeOf<
      WorkflowContracts['run_graph_part']['result']
    >();
    // @ts-expect-error the input of another workflow
    expectTypeOf(() => startChildOf('deploy_site', graph));
    // @ts-expect-error a part accepts no such signal
    expectTypeOf((child: Child<'run_graph_part'>) => child.signal('pause'));
    // @ts-expect-error not a type that the parent takes
    expectTypeOf(() => signalParent('from_part', { part: 1 }));
  });

  it('declares exactly the existing workflows and activities', () => {
    expectTypeOf<Exclude<SiteRunAction | GraphRunAction, 'stop' | 'cancel'>>().toEqualTypeOf<OperatorUpdate>();
    type Implemented = { readonly [W in WorkflowType]: (...args: never[]) => Promise<WorkflowContracts[W]['result']> };
    expectTypeOf<typeof workflows>().toExtend<Implemented>();
    expectTypeOf<Exclude<keyof typeof workflows, 'default'>>().toEqualTypeOf<WorkflowType>();
    type OnNodes = 'run_task' | 'ping' | 'drain' | 'cancel_task';
    expectTypeOf<keyof ReturnType<typeof createActivities>>().toEqualTypeOf<Exclude<keyof Activities, OnNodes>>();
  });
});

describe('the border of use cases', () => {
  type Run = RunHandle<SiteRunKind | 'execute_graph'>;

  it('starts workflows with their input', () => {
    const start = (client: WorkflowClient, input: SiteRunInput) =>
      startWorkflow(client, 'deploy_site', { taskQueue: '', workflowId: '', input });
    expectTypeOf(start).returns.resolves.toExtend<RunHandle<'deploy_site'>>();
    expectTypeOf((client: WorkflowClient, input: SiteRunInput) =>
      // @ts-expect-error the input of another workflow
      startWorkflow(client, 'execute_graph', { taskQueue: '', workflowId: '', input }),
    );
    expectTypeOf((client: WorkflowClient) =>
      getRun<'deploy_site'>(client, 'w').result(),
    ).returns.resolves.toEqualTypeOf<WorkflowContracts['deploy_site']['result']>();
  });

  it('queries, updates and signals runs by the names and payloads of their contracts', () => {
    expectTypeOf((run: Run) => run.query('status')).returns.resolves.toEqualTypeOf<RunStatus | GraphRunStatus>();
    expectTypeOf((run: Run) => run.update('retry_node', { node: 'n1', by: 'nina' })).returns.resolves.toEqualTypeOf<
      RunStatus | GraphRunStatus
    >();
    // @ts-expect-error no such query
    expectTypeOf((run: Run) => run.query('state'));
    // @ts-expect-error no such update
    expectTypeOf((run: Run) => run.update('retry', { node: 'n1' }));
    // @ts-expect-error a task instead of a node
    expectTypeOf((run: Run) => run.update('retry_node', { task: 'a@n1' }));
    // @ts-expect-error no such signal
    expectTypeOf((run: Run) => run.signal('halt', {}));
    // @ts-expect-error a reason is text
    expectTypeOf((run: Run) => run.signal('stop', { reason: 1 }));
  });
});
