import { setTimeout as delay } from 'node:timers/promises';
import { given } from '../../core/data/given.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { ExecutionKey } from '../../core/task-on-node.ts';
import { typesOver } from '../../core/task-types/index.ts';
import { executionIn, isExecution } from '../execution.ts';
import {
  DEFAULT_PATH_ROOTS,
  type EnsureAnswer,
  type Execution,
  type ExecutionHost,
  type FollowEvent,
  folderName,
  isSameOrder,
  type NodeFacts,
  type OrderSource,
  type OutputOffsets,
  prepareTask,
  type TaskResult,
} from '../index.ts';
import { DEFAULT_POLICY, type NodePolicy, policyRefusal, readPolicy } from '../onboarding/node-policy.ts';
import { openOverSsh, runOverSsh, type SshTarget } from '../onboarding/ssh-command.ts';
import { bringContent } from './bring-content.ts';
import {
  cancelScript,
  ensureScript,
  factsScript,
  followScript,
  forgetScript,
  generationsScript,
  lookScript,
  type RemotePlace,
  remotePlace,
} from './connection-scripts.ts';
import { readEvents } from './follow-stream.ts';
import { remoteResult } from './remote-result.ts';
import { remoteTask } from './remote-task.ts';

export interface SshNodeOptions {
  readonly node: string;
  readonly target: SshTarget;
  /** On the node: the folder that an agent of the site would use. */
  readonly stateDir: string;
  readonly orders: Pick<OrderSource, 'secret' | 'source'>;
  /** For nodes without their own policy. Default: no scripts. */
  readonly policy?: NodePolicy;
  /** On the node. */
  readonly policyFile?: string;
  readonly lockWaitSec?: number;
  /** Milliseconds without a connection after which following fails, to be retried. */
  readonly patienceMs?: number;
}

interface Seen {
  readonly state: 'none' | 'intent' | 'started';
  readonly policy: NodePolicy;
  readonly intent?: Execution;
}

const DEFAULT_PATIENCE_MS = 60_000;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Carries out executions on a node without an agent. Everything needed to survive a lost connection is on the node, so
 * this process keeps caches only. Orders over ssh are not signed: the node's policy must allow them.
 */
export class SshNode implements ExecutionHost {
  readonly #options: SshNodeOptions;
  /** Reasons of cancellations that may not have arrived yet. */
  readonly #cancellations = new Map<string, string>();
  /** Cached state and intents of executions, to save connections. */
  readonly #seen = new Map<string, Seen>();
  readonly #intents = new Map<string, Execution>();
  /** Results that needed no connection and are not yet followed. */
  readonly #localResults = new Map<string, TaskResult>();

  constructor(options: SshNodeOptions) {
    this.#options = options;
  }

  async execution(key: ExecutionKey): Promise<Execution | undefined> {
    return (await this.#look(key)).intent;
  }

  async hasStarted(key: ExecutionKey): Promise<boolean> {
    return (this.#seen.get(nameOf(key)) ?? (await this.#look(key))).state === 'started';
  }

  async generations(task: Omit<ExecutionKey, 'generation'>): Promise<number[]> {
    const listed = await this.#runScript(generationsScript(this.#place({ ...task, generation: 1 })));
    return listed.split('\n').filter(Boolean).map(Number);
  }

  async ensure(execution: Execution): Promise<EnsureAnswer> {
    const place = this.#place(execution);
    const { state, intent, policy } = this.#seen.get(nameOf(execution)) ?? (await this.#look(execution));
    this.#seen.delete(nameOf(execution));
    if (intent !== undefined && !isSameOrder(intent, execution)) return { kind: 'conflict' };
    this.#intents.set(nameOf(execution), execution);
    // It is running or has ended: the policy is not checked again.
    if (state === 'started') return { kind: 'accepted', result: undefined };
    const prepared = prepareTask(execution);
    if (!prepared.ok) return refused(prepared.problems);
    const { type } = prepared.task;
    const isNoop = execution.mode === 'noop' && type.noop === 'skip';
    if (type.kind !== 'work' || isNoop) {
      const result = nothingDone(isNoop ? 'nothing was done: this is a noop run' : 'there is nothing to do');
      this.#localResults.set(nameOf(execution), result);
      return { kind: 'accepted', result };
    }
    const refusal = unfit(execution) ?? policyRefusal(policy, execution, false);
    if (refusal !== undefined) return refused([problem(refusal)]);
    const { orders, lockWaitSec = 60 } = this.#options;
    const task = await remoteTask(prepared.task, place.mark, {
      execution,
      roots: policy.path_roots ?? DEFAULT_PATH_ROOTS,
      contentOf: async (input) =>
        'secret' in input
          ? Buffer.from(await orders.secret(input.secret, execution))
          : await orders.source(input.source, execution),
      bring: async (name, files) => {
        const folder = `${place.content}/${folderName(name)}`;
        await bringContent(files, folder, (script) => this.#runScript(script));
        return folder;
      },
    });
    if (task === undefined) return refused([problem(`tasks of type ${execution.type} need an agent on the node`)]);
    const options = { lockWaitSec, setsAside: state === 'intent' && intent === undefined };
    const answer = (await this.#runScript(ensureScript(place, intent ?? execution, task, options))).trim();
    if (answer === 'conflict') return { kind: 'conflict' };
    if (answer !== 'accepted') throw new Error(`the node answered ${JSON.stringify(answer.slice(0, 200))}`);
    return { kind: 'accepted', result: undefined };
  }

  async *follow(
    key: ExecutionKey,
    from: Partial<OutputOffsets> = {},
    stop?: AbortSignal,
  ): AsyncGenerator<FollowEvent, void, void> {
    const localResult = this.#localResults.get(nameOf(key));
    if (localResult !== undefined) {
      this.#localResults.delete(nameOf(key));
      yield { kind: 'ended', result: localResult };
      return;
    }
    const place = this.#place(key);
    const offsets = { stdout: 0, stderr: 0, ...from };
    const execution = this.#intents.get(nameOf(key)) ?? (await this.execution(key));
    if (execution === undefined) throw new Error('the node does not know this execution');
    const prepared = prepareTask(execution);
    const patienceMs = this.#options.patienceMs ?? DEFAULT_PATIENCE_MS;
    let lastEventAt = performance.now();
    let shown = false;
    const isStopped = () => stop?.aborted === true;
    for (let pauseMs = 200; !isStopped(); pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      await this.#sendCancellation(place, key);
      const connection = openOverSsh(this.#options.target, followScript(place, offsets));
      const close = () => connection.close();
      stop?.addEventListener('abort', close, { once: true });
      try {
        for await (const event of readEvents(connection.output)) {
          [lastEventAt, pauseMs] = [performance.now(), 200];
          if (isStopped()) return;
          if (event.kind === 'unknown') throw new Error('the node does not know this execution');
          if (!shown) {
            shown = true;
            yield { kind: 'progress', progress: { phase: 'running', sessions: [], tries: [] } };
          }
          if (event.kind === 'output') {
            offsets[event.stream] = event.offset + event.bytes.length;
            yield event;
          }
          if (event.kind === 'ended') {
            const seconds = prepared.ok ? prepared.task.limits.timeoutSec : 0;
            const limit = Math.min(seconds, execution.deadlineSec ?? seconds);
            const reason = this.#cancellations.get(nameOf(key)) ?? 'the run requested it';
            this.#cancellations.delete(nameOf(key));
            this.#intents.delete(nameOf(key));
            const result = remoteResult(execution.type, event.record, limit, reason, executionIn(place.folder));
            for (const stream of ['stdout', 'stderr'] as const) {
              const to = result.output[stream].bytes;
              if (to > offsets[stream]) yield { kind: 'gap', stream, offset: offsets[stream], to };
            }
            yield { kind: 'ended', result };
            return;
          }
        }
      } finally {
        stop?.removeEventListener('abort', close);
        connection.close();
      }
      if (performance.now() - lastEventAt > patienceMs)
        throw new Error(`no connection to ${this.#options.target.host}: ${connection.trouble()}`);
      await delay(pauseMs, undefined, given({ signal: stop })).catch(() => undefined);
    }
  }

  async cancel(key: ExecutionKey, reason: string): Promise<void> {
    this.#cancellations.set(nameOf(key), reason);
    await this.#sendCancellation(this.#place(key), key);
  }

  async facts(): Promise<NodeFacts> {
    const [bootId = ''] = (await this.#runScript(factsScript())).split('\n');
    const { node } = this.#options;
    return { node, bootId, taskTypes: typesOver('ssh'), containment: 'process-walk', unfinished: [] };
  }

  /** Does nothing: the next connection settles an execution that lost its runner. */
  async recover(): Promise<readonly string[]> {
    return [];
  }

  /** Deletes executions that ended before a moment from the node. */
  async forgetBefore(moment: Date): Promise<void> {
    const minutes = Math.max(1, Math.ceil((Date.now() - moment.getTime()) / 60_000));
    await this.#runScript(forgetScript(this.#options.stateDir, this.#options.node, minutes));
  }

  #place(key: ExecutionKey): RemotePlace {
    return remotePlace(this.#options.stateDir, key);
  }

  /** A cancellation that does not arrive is sent again with the next connection. */
  async #sendCancellation(place: RemotePlace, key: ExecutionKey): Promise<void> {
    const reason = this.#cancellations.get(nameOf(key));
    if (reason !== undefined) await this.#runScript(cancelScript(place, reason)).catch(() => undefined);
  }

  async #look(key: ExecutionKey): Promise<Seen> {
    const { policy: fallback = DEFAULT_POLICY, policyFile = '/etc/sitewright/policy.yaml' } = this.#options;
    const answer = await this.#runScript(lookScript(this.#place(key), policyFile));
    const [state = '', own = '', ...rest] = answer.split('\n');
    if (state !== 'none' && state !== 'intent' && state !== 'started')
      throw new Error(`the node answered ${JSON.stringify(state.slice(0, 200))}`);
    const intent = readExecution(rest.join('\n'));
    // The node's own policy wins: nothing from outside changes it.
    const reading = own.startsWith('=')
      ? readPolicy(Buffer.from(own.slice(1), 'base64').toString('utf8'), policyFile)
      : ({ ok: true, policy: fallback } as const);
    if (!reading.ok)
      throw new Error(
        `the policy of this node is not usable: ${reading.problems.map(({ message }) => message).join('; ')}`,
      );
    const seen: Seen = {
      state,
      policy: reading.policy,
      ...given({ intent }),
    };
    this.#seen.set(nameOf(key), seen);
    if (seen.intent !== undefined) this.#intents.set(nameOf(key), seen.intent);
    return seen;
  }

  async #runScript(script: string): Promise<string> {
    const { target } = this.#options;
    const end = await runOverSsh(target, script);
    if (end.exitCode === 0) return end.stdout;
    const said = end.stderr.trim().split('\n').slice(-3).join('; ').slice(0, 300);
    throw new Error(end.exitCode === 255 ? `no connection to ${target.host}: ${said}` : `the node reported: ${said}`);
  }
}

const nameOf = ({ run, task, node, generation }: ExecutionKey): string => JSON.stringify([run, task, node, generation]);

/** Undefined for an intent that the node lost or garbled: it is set aside and written again. */
function readExecution(text: string): Execution | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isExecution(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const problem = (message: string): Diagnostic => ({ severity: 'error', code: 'execution.not-over-ssh', message });

const refused = (problems: readonly Diagnostic[]): EnsureAnswer => ({
  kind: 'refused',
  failure: { kind: 'refused', problems },
});

function nothingDone(message: string): TaskResult {
  const at = new Date().toISOString();
  const nothing = { bytes: 0, dropped: 0, tail: '', binary: false };
  return {
    v: 1,
    outcome: 'skipped',
    failure: null,
    message,
    changed: false,
    exitCode: null,
    signal: null,
    startedAt: at,
    endedAt: at,
    bootId: '',
    tries: [],
    killed: null,
    leftRunning: 0,
    summary: {},
    output: { stdout: nothing, stderr: nothing },
  };
}

/** Why a task cannot run without an agent. */
function unfit({ secrets }: Execution): string | undefined {
  // Nothing on the node would remove them from the output.
  return secrets === undefined || secrets.length === 0
    ? undefined
    : 'a task with secrets of its own needs an agent on the node';
}
