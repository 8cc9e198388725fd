import { setMaxListeners } from 'node:events';
import { Context } from '@temporalio/activity';
import { MaasConfigurationError, type Machine, machineStatusName, type OperationOptions } from '../src/maas/index.js';
import type { ActivityDependencies } from './dependencies.js';
import { translated } from './failures.js';

/** What *Pending Activities* in Temporal's Web UI shows of an activity. */
export interface Beat {
  /** Name and id of the machine. */
  readonly machine?: string;
  /** Its state and the latest of its events, in MAAS' words. */
  readonly maas?: string;
  /** Minutes since the step was scheduled. */
  readonly minutes: number;
  /** Whom it waits for. */
  readonly waiting?: string;
}

/** A MAAS under load may take this long over any request. */
const SILENCE_TOLD_AFTER_MS = 20_000;
const longestStatus = 200;

/**
 * Heartbeats while the work goes on, hands it the activity's cancellation, and translates its errors.
 * The beat has a timer of its own: a look at a machine may be half a minute away, and a worker that died
 * must be noticed sooner.
 */
export async function alive<T>(
  { maas }: Pick<ActivityDependencies, 'maas'>,
  work: (options: OperationOptions) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const { attempt, heartbeatDetails, heartbeatTimeoutMs, scheduledTimestampMs } = context.info;
  let machine: Machine | undefined;
  const beat = () => context.heartbeat(beatOf(Date.now(), scheduledTimestampMs, machine, silenceOf(maas)));
  // A cancellation comes with the answer to a beat: at least every five seconds.
  const timer = setInterval(beat, Math.min(5_000, Math.max(100, (heartbeatTimeoutMs ?? 30_000) / 3)));
  // A site's check asks about a thousand machines at once, each with this signal.
  setMaxListeners(0, context.cancellationSignal);
  const options: OperationOptions = {
    signal: context.cancellationSignal,
    // An operator's reset of the activity counts from 1 again, and leaves the details of the last beat.
    isFirstTry: attempt === 1 && heartbeatDetails === undefined,
    heartbeat(latest) {
      machine = latest;
    },
  };
  try {
    return await translated(() => work(options));
  } catch (error) {
    // However the work put it: an activity that was cancelled ends as cancelled.
    if (context.cancellationSignal.aborted) await context.cancelled;
    throw error;
  } finally {
    clearInterval(timer);
  }
}

export function beatOf(
  now: number,
  startedAt: number,
  machine: Pick<Machine, 'hostname' | 'systemId' | 'status' | 'statusMessage'> | undefined,
  silentSince: number | undefined,
): Beat {
  const state = machine && machineStatusName(machine.status);
  const isNew = machine && machine.statusMessage !== '' && machine.statusMessage !== state;
  return {
    ...(machine ? { machine: `${machine.hostname} (${machine.systemId})` } : {}),
    ...(machine ? { maas: `${state}${isNew ? `: ${machine.statusMessage}` : ''}`.slice(0, longestStatus) } : {}),
    minutes: Math.max(0, Math.floor((now - startedAt) / 60_000)),
    ...(silentSince !== undefined && now - silentSince >= SILENCE_TOLD_AFTER_MS
      ? { waiting: `MAAS has not answered since ${new Date(silentSince).toISOString().slice(11, 16)} UTC` }
      : {}),
  };
}

function silenceOf(maas: ActivityDependencies['maas']): number | undefined {
  try {
    return maas().client.silentSince;
  } catch (error) {
    if (error instanceof MaasConfigurationError) return undefined;
    throw error;
  }
}
