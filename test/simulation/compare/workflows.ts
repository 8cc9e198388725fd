import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowCancellationType,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  scheduleActivity,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  startChild,
  upsertMemo,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { Program, Request, Step } from './program.ts';

type How = Extract<Request, { ask: 'update' }>['how'];

/** Carries out a program. */
export async function probe(program: Program): Promise<string> {
  const arrived = new Map<string, number>();
  const { workflowId } = workflowInfo();
  const root = workflowId.split('/')[0]!;
  const scopes = program.branches.map(() => new CancellationScope({ cancellable: true }));
  let asked = 0;
  setDefaultSignalHandler((name) => {
    arrived.set(name, (arrived.get(name) ?? 0) + 1);
  });
  setHandler(defineQuery<number>('asked'), () => asked);
  setHandler(
    defineUpdate<number, [How]>('ask'),
    async (how) => {
      if (how === 'later') await CancellationScope.nonCancellable(() => sleep(10));
      if (how === 'fails') throw ApplicationFailure.nonRetryable('asked to fail');
      asked += 1;
      return asked;
    },
    {
      validator: (how: How) => {
        if (how === 'is rejected') throw new Error('asked to reject');
      },
    },
  );

  const carryOut = async (step: Step): Promise<void> => {
    switch (step.do) {
      case 'activity':
        await scheduleActivity('act', [step.plan], {
          activityId: step.id,
          startToCloseTimeout: step.plan === 'times out' ? 1_000 : '10 minutes',
          cancellationType: ActivityCancellationType[step.cancellation],
          retry: { initialInterval: 20, maximumAttempts: step.plan === 'times out' ? 1 : 2 },
          ...(['goes on', 'is stubborn'].includes(step.plan) ? { heartbeatTimeout: 60_000 } : {}),
        });
        return;
      case 'timer':
        await sleep(step.ms);
        return;
      case 'wait': {
        const before = arrived.get(step.signal) ?? 0;
        await condition(() => (arrived.get(step.signal) ?? 0) > before);
        return;
      }
      case 'child': {
        const child = await startChild(probe, {
          workflowId: `${root}/${step.id}`,
          args: [step.program],
          parentClosePolicy: ParentClosePolicy[step.onClose],
          cancellationType: ChildWorkflowCancellationType[step.cancellation],
          // As our own workflows start children.
          // eslint-disable-next-line @typescript-eslint/no-deprecated
          workflowIdReusePolicy: WorkflowIdReusePolicy.TERMINATE_IF_RUNNING,
        });
        await child.result();
        return;
      }
      case 'memo':
        upsertMemo({ note: 1 });
        return;
      case 'signal':
        await getExternalWorkflowHandle(`${root}/${step.to}`).signal('note');
        return;
      case 'cancel workflow':
        await getExternalWorkflowHandle(`${root}/${step.to}`).cancel();
        return;
      case 'cancel branch':
        scopes[step.branch]!.cancel();
        return;
      case 'fail':
        throw ApplicationFailure.nonRetryable('asked to fail');
      default:
        step satisfies never;
    }
  };
  await Promise.all(
    program.branches.map((steps, at) =>
      scopes[at]!.run(async () => {
        for (const step of steps) {
          try {
            await carryOut(step);
          } catch (error) {
            if (step.do === 'fail' || isCancellation(error)) throw error;
          }
        }
      }).catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
      }),
    ),
  );
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('cancelled');
  if (program.end === 'fail') throw ApplicationFailure.nonRetryable('the end');
  // Once: the next one waits for all that could be asked of it.
  if (program.end === 'again')
    await continueAsNew<typeof probe>({ branches: [[{ do: 'wait', signal: 's1' }]], end: 'complete' });
  return 'done';
}
