import type { Random } from '@sitewright/temporal-simulator';
import type { AskHost } from '../../../activities/check/ask-host.ts';
import type { HostAnswer, Question } from '../../../src/core/checks/answers.ts';
import { pause, type World } from '../../../worker/parts/rehearsals/world.ts';

/** A name may be quoted, within a script that is quoted. */
const ASKED_NEIGHBOUR = /\/dev\/tcp\/[^\w/]*([\w-]+)[^\w/]*\/22\b/;
/** Of `timeout`. */
const OUT_OF_TIME = 124;

/** An answer that a host gave to a check. */
export interface GivenAnswer {
  readonly host: string;
  readonly at: number;
  readonly isGood: boolean;
}

/** The hosts that checks ask: some are broken or silent for a while, and all are well once the faults have ended. */
export class Hosts {
  readonly answers: GivenAnswer[] = [];
  readonly #world: Pick<World, 'time'>;
  readonly #random: Random;
  readonly #often: number;
  /** Until when a host is not well, and what it does. */
  readonly #troubles = new Map<string, { readonly until: number; readonly answer: HostAnswer }>();
  isCalm = false;

  constructor(world: Pick<World, 'time'>, random: Random) {
    this.#world = world;
    this.#random = random;
    this.#often = random.pick([0.1, 0.3, 0.7]);
  }

  readonly ask: AskHost = async (question, timeoutMs, signal) => {
    const host = question.kind === 'tcp' ? question.host : new URL(question.url).hostname;
    const answer = this.answerOf(host, question);
    await pause(answer.kind === 'none' ? timeoutMs : this.#random.int(1, 50));
    if (signal?.aborted === true) return { kind: 'none', why: 'nobody waits' };
    this.gave(host, answer);
    return answer;
  };

  /** What the script of a check finds on a node; undefined for any other script. */
  toScript(script: string, node: string): { exitCode: number; ms: number; found: () => void } | undefined {
    if (!script.startsWith('exec timeout ')) return undefined;
    const neighbour = ASKED_NEIGHBOUR.exec(script)?.[1];
    const asked = neighbour === undefined ? `disk of ${node}` : `ssh of ${neighbour}`;
    const answer = this.answerOf(asked, { kind: 'tcp' });
    return {
      exitCode: answer.kind === 'connected' ? 0 : answer.kind === 'none' ? OUT_OF_TIME : 1,
      ms: answer.kind === 'none' ? 10_000 : this.#random.int(1, 2_000),
      found: () => this.gave(asked, answer),
    };
  }

  gave(host: string, answer: HostAnswer): void {
    this.answers.push({ host, at: this.#world.time.now, isGood: answer.kind !== 'none' && isGood(answer) });
  }

  answerOf(host: string, { kind }: Pick<Question, 'kind'>): HostAnswer {
    const { now } = this.#world.time;
    const good: HostAnswer =
      kind === 'tcp' ? { kind: 'connected' } : { kind: 'http', status: 200, body: '', isWhole: true };
    if (this.isCalm) return good;
    const trouble = this.#troubles.get(host);
    if (trouble !== undefined && trouble.until > now) return trouble.answer;
    if (!this.#random.chance(this.#often)) return good;
    const answer = this.#random.pick<HostAnswer>([
      { kind: 'none', why: 'no answer within 10 s' },
      { kind: 'refused' },
      ...(kind === 'tcp' ? [] : [{ kind: 'http', status: 503, body: '', isWhole: true } as const]),
    ]);
    this.#troubles.set(host, { until: now + this.#random.int(1, this.#random.pick([30, 600])) * 1000, answer });
    return answer;
  }
}

const isGood = (answer: HostAnswer): boolean =>
  answer.kind === 'connected' || (answer.kind === 'http' && answer.status === 200);
