import { setMaxListeners } from 'node:events';
import { MaasConfigurationError, type Machine, machineStatusName, type OperationOptions } from '@sitewright/maas';
import { Context } from '@temporalio/activity';
import { describeSilence } from '../../src/core/run/late-text.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { translated } from '../failures.ts';
import { type MaasPulse, reportedSilence } from './maas-silence.ts';

/** Heartbeat details, shown under *Pending Activities* in Temporal's Web UI. */
interface Beat {
  /** Name and id of the machine. */
  readonly machine?: string;
  /** Its state and latest event, as MAAS names them. */
  readonly maas?: string;
  /** Minutes since the step was scheduled. */
  readonly minutes: number;
  /** The condition that the activity waits for. */
  readonly waiting?: string;
  /** Since when, ISO 8601. */
  readonly silent_since?: string;
}

const longestStatus = 200;
/** A stop that finds MAAS silent has four seconds of its ten behind it (`ask_maas`). */
const LONGEST_BEAT_MS = 4_000;

/**
 * Sends heartbeats while the work runs, passes it the activity's cancellation and translates its errors.
 * A separate timer sends them: polls of a machine may be half a minute apart, and a dead worker must be detected sooner.
 */
export async function withHeartbeats<T>(
  { maas, silence }: Pick<ActivityDependencies, 'maas' | 'silence'>,
  work: (options: OperationOptions) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const { attempt, heartbeatDetails, heartbeatTimeoutMs, scheduledTimestampMs } = context.info;
  let machine: Machine | undefined;
  const beat = () => context.heartbeat(beatOf(Date.now(), scheduledTimestampMs, machine, pulseOf(maas).silentSince));
  // Cancellations arrive with the response to a heartbeat.
  const timer = setInterval(beat, Math.min(LONGEST_BEAT_MS, Math.max(100, (heartbeatTimeoutMs ?? 30_000) / 3)));
  // A site check sends requests for a thousand machines concurrently, each with this signal.
  setMaxListeners(0, context.cancellationSignal);
  const options: OperationOptions = {
    signal: context.cancellationSignal,
    // After an operator's reset of the activity, attempts count from 1 again, but the last heartbeat details remain.
    isFirstTry: attempt === 1 && heartbeatDetails === undefined,
    heartbeat(latest) {
      machine = latest;
    },
  };
  try {
    const tried = () => translated(() => work(options));
    const before = heartbeatDetails === undefined ? undefined : ((heartbeatDetails as Beat).silent_since ?? null);
    return await (silence === undefined ? tried() : silence.during(before, tried));
  } catch (error) {
    // A cancelled activity ends as cancelled, whatever error the work threw.
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
  const silence = reportedSilence(silentSince, now);
  const state = machine && machineStatusName(machine.status);
  const isNew = machine && machine.statusMessage !== '' && machine.statusMessage !== state;
  return {
    ...(machine ? { machine: `${machine.hostname} (${machine.systemId})` } : {}),
    ...(machine ? { maas: `${state}${isNew ? `: ${machine.statusMessage}` : ''}`.slice(0, longestStatus) } : {}),
    minutes: Math.max(0, Math.floor((now - startedAt) / 60_000)),
    ...(silence === null ? {} : { waiting: describeSilence(silence), silent_since: silence }),
  };
}

/** Nothing is known of a MAAS that is not configured. */
export function pulseOf(maas: ActivityDependencies['maas']): MaasPulse {
  try {
    return maas().client;
  } catch (error) {
    if (error instanceof MaasConfigurationError) return {};
    throw error;
  }
}
