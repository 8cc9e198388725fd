import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AnyActivity,
  loadWorkflows,
  Random,
  SimulatedTemporal,
  takeOverGlobals,
  VirtualTime,
  Worker,
  type WorkflowCode,
} from '../src/index.ts';

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);
const folder = mkdtempSync(join(tmpdir(), 'transfer-'));
let code: WorkflowCode;

beforeAll(async () => {
  const bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('transfer-workflows.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  writeFileSync(join(folder, 'bundle.js'), bundle.code);
  code = await loadWorkflows(join(folder, 'bundle.js'), ['withdraw', 'deposit']);
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

/** What a seed leads to. */
async function live(type: string, seed: number) {
  const random = new Random(`transfer/${seed}`);
  const time = new VirtualTime(Date.parse('2026-01-02T03:04:05Z'));
  const giveBack = takeOverGlobals(time, random.fork('globals'));
  try {
    const violations: string[] = [];
    const temporal = new SimulatedTemporal({
      time,
      random: random.fork('temporal'),
      faults: { turn: () => (random.chance(0.2) ? 'lost-cache' : 'none') },
      violated: (what) => violations.push(what),
    });
    const accounts: Record<string, number> = { own: 100, other: 0 };
    const booked = new Set<string>();
    const isClosed = random.chance(0.3);
    /** An attempt may fail before the money is moved, or lose its answer afterwards; a booking is made once. */
    const book = async (account: string, amount: number): Promise<void> => {
      if (account === 'other' && isClosed) throw ApplicationFailure.nonRetryable('the account is closed');
      if (random.chance(0.3)) throw new Error('the bank does not answer');
      const { activityId } = Context.current().info;
      if (!booked.has(activityId)) accounts[account] = (accounts[account] ?? 0) + amount;
      booked.add(activityId);
      if (random.chance(0.3)) throw new Error('the answer is lost');
    };
    const withdraw = async (amount: number): Promise<void> => book('own', -amount);
    const deposit = async (...[account, amount]: [string, number]): Promise<void> => book(account, amount);
    temporal.join(
      new Worker({
        host: { name: 'worker', alive: true, stalledUntil: 0 },
        time,
        code,
        workflowQueues: ['bank'],
        activities: { bank: { withdraw, deposit } as unknown as Record<string, AnyActivity> },
        latency: () => random.int(1, 20),
      }),
    );
    const run = temporal.start({ type, workflowId: 'transfer', taskQueue: 'bank', args: [100] });
    let isGoingOn = true;
    while (run.status === 'RUNNING' && isGoingOn) isGoingOn = await time.step();
    const { status, result } = run;
    return { status, result, accounts, took: time.now - time.start, violations };
  } finally {
    giveBack();
  }
}

const sum = (accounts: Readonly<Record<string, number>>): number =>
  Object.values(accounts).reduce((all, one) => all + one, 0);

describe('a transfer between accounts', () => {
  it('is the same each time that its seed is lived through', async () => {
    expect(await live('transfer', 7)).toEqual(await live('transfer', 7));
  });

  it('neither loses nor makes money in any seed, and decides in replays as before', async () => {
    for (const seed of SEEDS) {
      const { status, accounts, violations } = await live('transfer', seed);
      const right = { seed, status: 'COMPLETED', sum: 100, violations: [] };
      expect({ seed, status, sum: sum(accounts), violations }).toEqual(right);
    }
  });

  it('arrives in some seeds, and is paid back in others', async () => {
    const ends = new Set<unknown>();
    for (const seed of SEEDS) ends.add((await live('transfer', seed)).result);
    expect([...ends].sort()).toEqual(['paid back', 'transferred']);
  });

  it('makes money in some seed where it gives up too early', async () => {
    const sums: number[] = [];
    for (const seed of SEEDS) sums.push(sum((await live('impatientTransfer', seed)).accounts));
    expect(sums.some((one) => one > 100)).toBe(true);
  });
});
