import { beforeEach, describe, expect, it } from 'vitest';
import { type Asking, type MaasPulse, SilenceReports } from '../../../activities/run/maas-silence.ts';

const run: Asking = { workflowId: 'deploy_site:dc1', runId: 'r1' };
const noon = Date.UTC(2026, 10, 22, 12);
const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

let pulse: MaasPulse;
let now: number;
let sent: (string | null)[];
let isTemporalAway: boolean;

const process = (): SilenceReports =>
  new SilenceReports({
    pulse: () => pulse,
    now: () => now,
    send: async (_execution, { since }) => {
      if (isTemporalAway) throw new Error('away');
      sent.push(since);
    },
  });

/** A try of an activity that the test ends. */
function begin(
  reports: SilenceReports,
  { before, isOver = false }: { readonly before: string | null | undefined; readonly isOver?: boolean } = {
    before: null,
  },
) {
  let succeed = (): void => undefined;
  let fail = (): void => undefined;
  const work = new Promise<void>((resolve, reject) => {
    succeed = resolve;
    fail = () => reject(new Error('MAAS did not answer'));
  });
  const done = reports
    .watch(
      run,
      before,
      () => isOver,
      () => work,
    )
    .catch(() => undefined);
  const end = (how: () => void) => () => {
    how();
    return done;
  };
  return { succeed: end(succeed), fail: end(fail) };
}

beforeEach(() => {
  [pulse, now, sent, isTemporalAway] = [{}, noon, [], false];
});

const falls = (seconds: number): void => {
  pulse = { ...pulse, silentSince: noon + seconds * 1000 };
};
const answers = (seconds: number): void => {
  pulse = { lastAnswerAt: noon + seconds * 1000 };
};
const later = (seconds: number): void => {
  now = noon + seconds * 1000;
};

describe('the outage of MAAS', () => {
  it('is reported once after twenty seconds, and its end once, however many activities wait', async () => {
    const reports = process();
    const steps = Array.from({ length: 64 }, () => begin(reports));
    falls(0);
    later(15);
    await reports.look();
    expect(sent).toEqual([]);
    later(25);
    await reports.look();
    later(600);
    await reports.look();
    expect(sent).toEqual([at(0)]);
    answers(601);
    await reports.look();
    expect(sent).toEqual([at(0), null]);
    await Promise.all(steps.map((step) => step.succeed()));
    expect(sent).toEqual([at(0), null]);
  });

  it('is noticed between attempts that fail immediately', async () => {
    const reports = process();
    falls(0);
    await begin(reports).fail();
    later(25);
    await reports.look();
    expect(sent).toEqual([at(0)]);
    const next = begin(reports, { before: at(0) });
    answers(40);
    later(40);
    await next.succeed();
    expect(sent).toEqual([at(0), null]);
  });

  it('ends when its last step was cancelled, so that nothing asks MAAS', async () => {
    const reports = process();
    const step = begin(reports, { before: null, isOver: true });
    falls(0);
    later(25);
    await reports.look();
    await step.fail();
    expect(sent).toEqual([at(0), null]);
  });

  it('stays as reported by another process until MAAS answers this one', async () => {
    const reports = process();
    const step = begin(reports, { before: at(0) });
    // The silence of this process has just started.
    falls(300);
    later(330);
    await reports.look();
    expect(sent).toEqual([]);
    answers(340);
    await step.succeed();
    expect(sent).toEqual([null]);
  });

  it('that another process may have reported is corrected by the first answer', async () => {
    const reports = process();
    const step = begin(reports, { before: undefined });
    falls(300);
    later(305);
    await reports.look();
    expect(sent).toEqual([]);
    answers(310);
    await step.succeed();
    expect(sent).toEqual([null]);
  });

  it('continues to be reported by the process that makes the next attempt', async () => {
    const reports = process();
    falls(0);
    await begin(reports).fail();
    later(25);
    await reports.look();
    later(130);
    await reports.look();
    later(600);
    await reports.look();
    expect(sent).toEqual([at(0), null]);
  });

  it('is reported again when Temporal was unreachable', async () => {
    const reports = process();
    const step = begin(reports);
    falls(0);
    later(25);
    isTemporalAway = true;
    await reports.look();
    isTemporalAway = false;
    await reports.look();
    expect(sent).toEqual([at(0)]);
    answers(30);
    await step.succeed();
    expect(sent).toEqual([at(0), null]);
  });
});
