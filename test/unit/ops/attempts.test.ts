import type { temporal } from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import { isOfNode, isOfTask, scheduledIn } from '../../../src/ops/attempts.ts';
import type { TemporalAccess } from '../../../src/ops/dependencies.ts';

type Event = temporal.api.history.v1.IHistoryEvent;

const scheduled = (activityId: string): Event => ({ activityTaskScheduledEventAttributes: { activityId } });
const part = (workflowId: string, runId: string): Event => ({
  childWorkflowExecutionStartedEventAttributes: { workflowExecution: { workflowId, runId } },
});
const goesOnIn = (newExecutionRunId: string): Event => ({
  workflowExecutionContinuedAsNewEventAttributes: { newExecutionRunId },
});

/** A server with these histories by run id, which answers them from their ends, an event a page. */
function server(histories: Readonly<Record<string, readonly Event[]>>) {
  let pages = 0;
  const getWorkflowExecutionHistoryReverse = async ({
    execution: { runId },
    nextPageToken,
  }: {
    readonly execution: { readonly runId: string };
    readonly nextPageToken?: Uint8Array;
  }) => {
    pages += 1;
    const events = histories[runId] ?? [];
    const at = nextPageToken === undefined ? events.length : Buffer.from(nextPageToken).readInt32BE();
    const token = Buffer.alloc(4);
    token.writeInt32BE(at - 1);
    return {
      history: { events: events.slice(at - 1, at).map((one) => ({ ...one, eventId: at })) },
      nextPageToken: at > 1 ? token : new Uint8Array(),
    };
  };
  const connection = { workflowService: { getWorkflowExecutionHistoryReverse } };
  const access = { connection, namespace: 'own' } as unknown as TemporalAccess;
  const find = (isIt: (id: string) => boolean) => scheduledIn(access, { workflowId: 'w', runId: 'r' }, isIt);
  return { find, pages: () => pages };
}

describe('the event of an attempt', () => {
  const task = { task: 'mysql', node: '7' };

  it.each([
    ['mysql@7', [true, true, false]],
    ['mysql@7/2', [true, true, false]],
    ['mysql@7/power', [true, true, false]],
    ['mysql@7:2', [true, false, true]],
    ['mysql@7:2/3', [true, false, true]],
    ['mysql@7:21', [true, false, false]],
    ['mysql@70', [false, false, false]],
    ['mysql@7/other', [false, false, false]],
  ])('%s is of the task, its first attempt, its second: %s', (id, is) => {
    expect([undefined, 1, 2].map((attempt) => isOfTask(task, attempt)(id))).toEqual(is);
  });

  it.each([
    ['deploy:control:n1', true],
    ['prepare:control:n1:2', true],
    ['abort:control:n1', false],
    ['deploy:control:n12', false],
    ['deploy:n1:n2', false],
    ['deploy:n1:2', false],
    ['deploy:rack1:masters:n1', true],
  ])('%s is of node n1: %s', (id, is) => {
    expect(isOfNode('n1')(id)).toBe(is);
  });

  it('is the newest in the history of the run', async () => {
    const { find } = server({ r: [scheduled('mysql@7'), scheduled('mysql@7/2'), scheduled('mysql@8')] });
    expect(await find(isOfTask(task, undefined))).toEqual({ workflowId: 'w', runId: 'r', eventId: '2' });
  });

  it('is found in a part, also after the part has continued as new', async () => {
    const { find } = server({
      r: [part('w/1', 'p1'), part('w/2', 'p2')],
      p1: [scheduled('mysql@7'), goesOnIn('p1b')],
      p1b: [scheduled('mysql@8')],
    });
    expect(await find(isOfTask(task, 1))).toEqual({ workflowId: 'w/1', runId: 'p1', eventId: '1' });
    expect(await find(isOfTask({ ...task, node: '8' }, 1))).toMatchObject({ runId: 'p1b', eventId: '1' });
  });

  it('is not looked for in more than a hundred pages', async () => {
    const { find, pages } = server({ r: [scheduled('mysql@7'), ...Array.from({ length: 200 }, () => scheduled('x'))] });
    expect(await find(isOfTask(task, 1))).toBeUndefined();
    expect(pages()).toBe(100);
  });
});
