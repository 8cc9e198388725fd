import { expect, it } from 'vitest';
import { settingsSchema } from '../../../../src/platform/settings/settings.ts';
import { asOne, optionsOfQueues } from '../../../../worker/parts/queue-workers.ts';

const limits = settingsSchema.shape.worker.parse({});
const options = { taskQueue: 'west:sitewright', workflowBundle: { code: '' }, activities: {} };

it('calls to machines, parts of large runs, and runs have their own slots', () => {
  const queues = optionsOfQueues(options, {
    ...limits,
    ...{ activity_slots: 7, machine_slots: 9, workflow_slots: 5, part_slots: 3 },
  });
  const shown = queues.map((one) => [
    one.taskQueue,
    one.workflowBundle !== undefined,
    one.maxConcurrentActivityTaskExecutions,
    one.maxConcurrentWorkflowTaskExecutions,
    one.maxConcurrentWorkflowTaskPolls,
  ]);
  expect(shown).toEqual([
    ['west:sitewright.machines', false, 9, undefined, undefined],
    ['west:sitewright.parts', true, 7, 3, 3],
    ['west:sitewright', true, 7, 5, 5],
  ]);
});

it('a worker that fails ends the others, and the failure is reported', async () => {
  const worker = () => {
    let state = 'RUNNING';
    let end: (error?: Error) => void = () => undefined;
    const ended = new Promise<void>((resolve, reject) => {
      end = (error) => {
        state = error === undefined ? 'STOPPED' : 'FAILED';
        if (error === undefined) resolve();
        else reject(error);
      };
    });
    return { fail: (error: Error) => end(error), run: () => ended, shutdown: () => end(), getState: () => state };
  };
  const [one, two] = [worker(), worker()];
  const running = asOne([one, two] as never).run();
  one.fail(new Error('poll failed'));
  await expect(running).rejects.toThrow('poll failed');
  expect([one.getState(), two.getState()]).toEqual(['FAILED', 'STOPPED']);
});
