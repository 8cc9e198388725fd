import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CheckFinding } from '../../src/core/checks/wave-checks.ts';
import {
  finishCall,
  finishNode,
  type NextCall,
  type NodeResult,
  nextCall,
  startBaremetal,
  startNode,
} from '../../src/core/deployment/baremetal.ts';
import { planGroups } from '../../src/core/deployment/plan-groups.ts';
import type { BaremetalState } from '../../src/core/deployment/progress.ts';
import { deployRetried, endRetry, mayDeployRetried, startRetry, whyNotRetry } from '../../src/core/deployment/retry.ts';
import {
  isRolloutHeld,
  mayStartNode,
  operateRollouts,
  recordChecks,
  recordLook,
  whyNotOperateRollouts,
} from '../../src/core/deployment/rollout.ts';
import type { WrittenRollout } from '../../src/core/rollout/policy.ts';
import type { Call, RolloutAction } from '../../src/core/words.ts';
import { writtenRollouts } from '../unit/core/rollout/written-rollouts.ts';

interface Wanted {
  readonly name: string;
  readonly depends_on: readonly string[];
  readonly members: readonly number[];
  readonly rollout?: WrittenRollout;
  readonly percent: number;
}

/** What the words of the documentation say of one rollout, from what has happened to its nodes. */
interface Judge {
  lastResultAt: number;
  lookedAt: number;
  /** When each check was well the last time. */
  checkedAt: Map<string, number>;
  held: boolean;
  aborted: boolean;
  limit: number | null;
  vouched: { wave: number; failed: number };
}

const OK: NodeResult = { ok: true };
const BAD: NodeResult = { ok: false, failure: { kind: 'broken', message: 'it is broken' } };
const pick = <T>(list: readonly T[], by: number): T | undefined => list[by % list.length];

/** A site's groups in the hands of a run, of people, and of an oracle that judges each start. */
class Owner {
  readonly wanted: readonly Wanted[];
  state: BaremetalState;
  now = 1_000_000;
  call: NextCall | null = null;
  queue: number[] = [];
  isDone = false;
  readonly retried = new Map<number, Call>();
  asked: { readonly group: number; readonly findings: readonly CheckFinding[]; readonly at: number } | null = null;
  readonly judges: ReadonlyMap<string, Judge>;

  constructor(wanted: readonly Wanted[], total: number) {
    this.wanted = wanted;
    const sites = Array.from({ length: total }, (_, at) => ({ name: `n${at}`, rack: null, tags: [], labels: {} }));
    const groups = wanted.map(({ name, depends_on, members, rollout, percent }) => ({
      ...{ name, depends_on, critical: false },
      selectors: [{ node_names: members.map((member) => `n${member % total}`) }],
      success_criteria: { percent_successful_nodes: percent },
      ...(rollout && { rollout }),
    }));
    this.state = startBaremetal(
      planGroups({ groups }, sites),
      sites.map(({ name }) => name),
    );
    this.judges = new Map(
      wanted.flatMap(({ name, rollout }) =>
        rollout === undefined
          ? []
          : [
              [
                name,
                {
                  ...{ lastResultAt: 0, lookedAt: 0, held: false, aborted: false, limit: null, checkedAt: new Map() },
                  vouched: { wave: -1, failed: -1 },
                },
              ],
            ],
      ),
    );
  }

  get running(): number[] {
    return this.call === null
      ? []
      : this.call.nodes.filter((node) => !this.queue.includes(node) && this.state.current!.results[node] === undefined);
  }

  wavesOf(group: string): readonly (readonly number[])[] {
    return this.state.groups.find(({ plan }) => plan.name === group)?.rollout?.waves ?? [];
  }
  failedIn(group: string): number {
    return this.wavesOf(group)
      .flat()
      .filter((node) => {
        const { state } = this.state.nodes[node]!;
        return state === 'failed' || (this.retried.has(node) && state !== 'success');
      }).length;
  }
  limitOf(group: string): number {
    const { limit } = this.judges.get(group)!;
    const { stop_at = { failed: 1 } } = this.wanted.find(({ name }) => name === group)!.rollout!;
    const total = this.wavesOf(group).flat().length;
    if (limit !== null) return limit;
    if ('failed' in stop_at) return stop_at.failed;
    return (
      Array.from({ length: total + 1 }, (_, at) => at).find((n) => n > 0 && n * 100 >= stop_at.percent * total) ?? 1
    );
  }

  /** Its words in the documentation. */
  judgeStart(group: string, node: number): void {
    const judge = this.judges.get(group);
    if (judge === undefined) return;
    const waves = this.wavesOf(group);
    const wave = waves.findIndex((members) => members.includes(node));
    expect(wave, 'a node of no wave starts').toBeGreaterThanOrEqual(0);
    expect(judge.aborted, 'it starts after the end').toBe(false);
    const failed = this.failedIn(group);
    const isForgiven = wave <= judge.vouched.wave && failed <= judge.vouched.failed;
    if (!isForgiven) expect(failed, 'it starts after the limit').toBeLessThan(this.limitOf(group));
    expect(wave, 'its wave is not open').toBeLessThan(this.openedOf(group));
  }
  openedOf(group: string): number {
    return this.state.groups.find(({ plan }) => plan.name === group)!.rollout!.opened;
  }
  judgeOpening(group: string, judge: Judge, wave: number): void {
    const before = this.wavesOf(group).slice(0, wave).flat();
    for (const other of before) {
      expect(['success', 'failed'], 'a wave before has no results').toContain(this.state.nodes[other]!.state);
      expect(this.retried.has(other), 'a wave before has no results').toBe(false);
    }
    expect(judge.aborted, 'it opens after the end').toBe(false);
    const { nodes: members } = this.state.groups.find(({ plan }) => plan.name === group)!.plan;
    const bad = members.filter((node) => this.state.nodes[node]!.state === 'failed').length;
    const { percent } = this.wanted.find(({ name }) => name === group)!;
    expect((members.length - bad) * 100, 'it cannot succeed').toBeGreaterThanOrEqual(percent * members.length);
    const isVouched = wave <= judge.vouched.wave && this.failedIn(group) <= judge.vouched.failed;
    if (!isVouched) {
      expect(this.failedIn(group), 'it opens after the limit').toBeLessThan(this.limitOf(group));
      expect(judge.held, 'it is held').toBe(false);
    }
    if (!isVouched && wave > 0) {
      const { soak: written = '0s', checks = [] } = this.wanted.find(({ name }) => name === group)!.rollout!;
      for (const check of checks)
        expect(judge.checkedAt.get(check) ?? 0, `check ${check} was not well`).toBeGreaterThanOrEqual(
          judge.lastResultAt,
        );
      const soak = Number(written.slice(0, -1)) * 1000;
      expect(this.now - judge.lastResultAt, 'it has not soaked').toBeGreaterThanOrEqual(soak);
      if (soak > 0) expect(judge.lookedAt - judge.lastResultAt, 'nobody looked').toBeGreaterThanOrEqual(soak);
      expect(
        before.some((one) => this.state.nodes[one]!.state === 'success'),
        'unproven',
      ).toBe(true);
    }
    judge.lastResultAt = this.now;
  }

  step(): void {
    if (this.call !== null) return;
    const { call, rest } = this.#next();
    this.call = call;
    if (call !== null)
      expect(mayStartNode(this.state, this.state.groups[call.group]!, call.nodes), 'nothing may start').toBe(true);
    this.queue = [...(call?.nodes ?? [])];
    this.isDone = call === null && rest === undefined && !isRolloutHeld(this.state) && this.retried.size === 0;
    if (rest?.kind === 'soak') this.now = Math.max(this.now + 1, rest.until - 500);
  }
  #next(): ReturnType<typeof nextCall> {
    const before = new Map([...this.judges.keys()].map((group) => [group, this.openedOf(group)]));
    const uncut = [...this.judges.keys()].filter((group) => this.wavesOf(group).length === 0);
    const done = this.state.nodes.flatMap(({ state }, node) => (state === 'success' ? [node] : []));
    const next = nextCall(this.state, this.now);
    this.state = next.state;
    for (const group of uncut)
      for (const node of this.wavesOf(group).flat()) expect(done, 'a node without work has a wave').not.toContain(node);
    for (const [group, judge] of this.judges)
      for (let wave = before.get(group)!; wave < this.openedOf(group); wave++) this.judgeOpening(group, judge, wave);
    return next;
  }
  look(by: number): void {
    if (this.call !== null) return;
    const { state, call, rest } = this.#next();
    this.call = call;
    this.queue = [...(call?.nodes ?? [])];
    if (rest?.kind !== 'look') return;
    const problems = rest.nodes
      .filter((_, at) => (by >> at) % 4 === 0)
      .map((node) => ({ node: `n${node}`, problem: 'gone' }));
    const isUnseen = by % 4 === 1;
    const group = state.groups[rest.group]!.plan.name;
    if (!isUnseen) this.judges.get(group)!.lookedAt = this.now;
    this.state = recordLook(state, rest.group, isUnseen ? { unseen: 'MAAS is away' } : { problems }, this.now);
    for (const { node } of isUnseen ? [] : problems)
      expect(this.state.nodes.find(({ name }) => name === node)!.state, 'not well, and no failure').toBe('failed');
  }
  ask(by: number): void {
    if (this.call !== null) return;
    const { state, call, rest } = this.#next();
    this.call = call;
    this.queue = [...(call?.nodes ?? [])];
    if (rest?.kind !== 'check') return;
    expect(rest.nodes.every((node) => state.nodes[node]!.state === 'success')).toBe(true);
    const isUnwell = by % 4 === 1;
    const verdict = by % 3 === 0 ? 'failed' : 'unknown';
    const nodes = rest.nodes.filter((_, at) => (by >> at) % 4 === 0);
    const findings = rest.checks.map((name): CheckFinding => {
      const each = name === 'wave' ? 'wave' : 'node';
      if (by % 16 === 2) return { name, each, unwell: [], unasked: 'no worker asks' };
      const isGood = by % 4 === 0 || (each === 'wave' ? !isUnwell : nodes.length === 0);
      return { name, each, unwell: isGood ? [] : [{ verdict, text: 'bad', nodes: each === 'wave' ? [] : nodes }] };
    });
    this.asked = { group: rest.group, findings: by % 32 === 5 ? findings.slice(1) : findings, at: this.now };
  }
  /** Meanwhile anything may have happened. */
  answer(): void {
    if (this.asked === null) return;
    const { group, findings, at } = this.asked;
    this.asked = null;
    const before = this.state.nodes;
    this.state = recordChecks(this.state, group, findings, at);
    const judge = this.judges.get(this.state.groups[group]!.plan.name)!;
    for (const { name, each, unwell, unasked } of findings) {
      const isWell = unasked === undefined && (each === 'node' || unwell.length === 0);
      judge.checkedAt.set(name, isWell ? at : -1);
      for (const node of unwell.flatMap(({ nodes }) => nodes))
        if (before[node]!.state === 'success' && before[node]!.retrying === undefined)
          expect(this.state.nodes[node]!.state, 'not well, and no failure').toBe('failed');
    }
    for (const name of ['wave', 'nodes']) if (!findings.some((one) => one.name === name)) judge.checkedAt.set(name, -1);
  }
  start(): void {
    const node = this.queue[0];
    if (
      this.call === null ||
      node === undefined ||
      !mayStartNode(this.state, this.state.groups[this.call.group]!, this.call.nodes)
    )
      return;
    this.judgeStart(this.call.name, node);
    this.queue.shift();
    this.state = startNode(this.state, node, this.now);
  }
  finish(by: number, result: NodeResult): void {
    const node = pick(this.running, by);
    if (this.call !== null && node !== undefined) this.#result(node, this.call.call, result);
    const isOver =
      this.queue.length === 0 ||
      (this.call && !mayStartNode(this.state, this.state.groups[this.call.group]!, this.call.nodes));
    if (this.call === null || this.running.length > 0 || !isOver) return;
    const members = this.state.groups[this.call.group]!.plan.nodes;
    if (members.some((member) => this.retried.has(member))) return;
    this.state = finishCall(this.state, { kind: this.queue.length > 0 ? 'held' : 'complete' }, this.now);
    this.call = null;
  }
  #result(node: number, call: Call, result: NodeResult): void {
    this.state = finishNode(this.state, node, call, result, this.now);
    for (const [group, judge] of this.judges)
      if (this.wavesOf(group).slice(0, this.openedOf(group)).flat().includes(node)) judge.lastResultAt = this.now;
  }

  retry(by: number): void {
    const node = pick([...this.state.nodes.keys()], by)!;
    if (whyNotRetry(this.state, `n${node}`) !== null) return;
    this.state = startNode(startRetry(this.state, `n${node}`), node, this.now);
    this.retried.set(node, 'prepare');
  }
  finishRetry(by: number, result: NodeResult): void {
    const entry = pick([...this.retried], by);
    if (entry === undefined) return;
    const [node, call] = entry;
    this.#result(node, call, result);
    if (call === 'prepare' && mayDeployRetried(this.state, node)) {
      this.state = startNode(deployRetried(this.state, node), node, this.now);
      this.retried.set(node, 'deploy');
      return;
    }
    this.retried.delete(node);
    this.state = endRetry(this.state, node);
  }

  operate(action: RolloutAction, by: number): void {
    const group = pick(this.wanted, by)!.name;
    const request = {
      ...(by % 3 !== 0 && { group }),
      ...(action === 'promote' && by % 2 === 0 && { limit: (by % 9) + 1 }),
    };
    if (whyNotOperateRollouts(this.state, action, request, this.now) !== null) return;
    for (const [name, judge] of this.judges) {
      if (request.group !== undefined && request.group !== name) continue;
      if (whyNotOperateRollouts(this.state, action, { ...request, group: name }, this.now) !== null) continue;
      if (action === 'hold') judge.held = true;
      else if (action === 'abort_rollout') judge.aborted = true;
      else this.#vouch(name, judge, request.limit);
    }
    this.state = operateRollouts(this.state, action, request, this.now);
  }
  #vouch(group: string, judge: Judge, limit: number | undefined): void {
    const waves = this.wavesOf(group);
    const { opened } = this.state.groups.find(({ plan }) => plan.name === group)!.rollout!;
    const open = waves.slice(0, opened).flat();
    expect(
      open.some((node) => this.running.includes(node) || this.retried.has(node)),
      'vouched for nothing',
    ).toBe(false);
    const isMidway = open.some((node) => ['waiting', 'prepared'].includes(this.state.nodes[node]!.state));
    judge.vouched = { wave: isMidway ? opened - 1 : opened, failed: this.failedIn(group) };
    judge.held = false;
    judge.limit = limit ?? judge.limit;
  }
}

const HAPPENINGS: readonly ((owner: Owner, by: number) => void)[] = [
  ...Array.from({ length: 4 }, () => (owner: Owner) => owner.step()),
  ...Array.from({ length: 4 }, () => (owner: Owner) => owner.start()),
  ...Array.from({ length: 3 }, () => (owner: Owner, by: number) => owner.finish(by, by % 4 === 0 ? BAD : OK)),
  (owner, by) => owner.look(by),
  (owner, by) => owner.look(by),
  (owner, by) => owner.ask(by),
  (owner, by) => owner.ask(by),
  (owner) => owner.answer(),
  (owner) => owner.answer(),
  (owner, by) => void (owner.now += (by % 50) * 1000),
  (owner, by) => owner.retry(by),
  (owner, by) => owner.finishRetry(by, by % 3 === 0 ? BAD : OK),
  (owner, by) => owner.operate('promote', by),
  (owner, by) => (by % 4 === 0 ? owner.operate('hold', by) : undefined),
  (owner, by) => (by % 40 === 0 ? owner.operate('abort_rollout', by) : undefined),
];

/** Everything goes well from now on, and an operator helps where it is held. */
function finishAll(owner: Owner): void {
  owner.isDone = false;
  for (let turn = 0; !owner.isDone; turn++) {
    if (turn > 2_000) throw new Error(`it waits for ever: ${JSON.stringify(owner.state.groups)}`);
    while (owner.retried.size > 0) owner.finishRetry(0, OK);
    owner.step();
    owner.look(1);
    owner.ask(4);
    owner.answer();
    for (const _ of owner.queue.slice()) owner.start();
    for (let left = owner.running.length; left >= 0; left--) owner.finish(0, OK);
    owner.now += 500;
    if (isRolloutHeld(owner.state)) {
      owner.operate('promote', 17);
      owner.operate('promote', 18);
      owner.operate('promote', 6);
    }
  }
}

const groups = fc
  .array(
    fc.record({
      members: fc.array(fc.nat(20), { minLength: 1, maxLength: 12 }),
      rollout: fc.option(writtenRollouts, { nil: undefined, freq: 4 }),
      percent: fc.constantFrom(0, 0, 50, 100),
      follows: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((all) =>
    all.map(({ follows, rollout, ...one }, at) => ({
      ...one,
      name: `g${at}`,
      depends_on: follows && at > 0 ? [`g${at - 1}`] : [],
      ...(rollout && { rollout: rollout as WrittenRollout }),
    })),
  );

it('a rollout keeps within its waves, stops at its limit, and ends', () => {
  const happenings = fc.array(fc.tuple(fc.nat(HAPPENINGS.length - 1), fc.nat(1_000)), { size: 'large' });
  const property = fc.property(groups, fc.integer({ min: 1, max: 14 }), happenings, (wanted, total, happened) => {
    const owner = new Owner(wanted, total);
    for (const [kind, by] of happened) HAPPENINGS[kind]!(owner, by);
    finishAll(owner);
    for (const { state, plan } of owner.state.groups)
      expect(['success', 'failed'], `group ${plan.name} is ${state}`).toContain(state);
  });
  fc.assert(property, { numRuns: 1_500 });
});
