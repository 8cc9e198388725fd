import type { MaasClient } from './client.ts';
import type { MaasEvent } from './diagnostic-calls.ts';
import { isMaasFailure } from './failure.ts';

/** Enough to reach back over the installer's events to the start of a deployment. */
const eventsRead = 500;
const longestLine = 500;

/** A user's request to MAAS about a machine, from its log. */
export interface LoggedRequest {
  /** User name; several people may share a key. */
  readonly by: string;
  /** MAAS' text of the time, UTC. */
  readonly at: string;
  /** The caller's reason; `''` when there is none. */
  readonly comment: string;
}

/**
 * MAAS' log of one machine, newest first. It survives release and redeployment, so every method looks only at
 * events after the latest start of an operation.
 */
export class MachineLog {
  readonly #events: readonly MaasEvent[];

  constructor(events: readonly MaasEvent[]) {
    this.#events = [...events].sort((a, b) => b.id - a.id);
  }

  /**
   * Empty when MAAS does not show it to this user: the log only explains, so nothing fails without it.
   * @throws MaasError when MAAS cannot be reached, or refuses the key.
   */
  static async read(client: MaasClient, systemId: string, signal: AbortSignal | undefined): Promise<MachineLog> {
    try {
      const query = { systemIds: [systemId], level: 'DEBUG', limit: eventsRead } as const;
      return new MachineLog(await client.diagnostics.events(query, signal));
    } catch (error) {
      if (!isMaasFailure(error, 'not-found', 'forbidden', 'no-such-endpoint', 'invalid')) throw error;
      return new MachineLog([]);
    }
  }

  /** How far a run got, by the comment of its requests: clocks do not matter. */
  progressOf(run: string): 'allocated' | 'deployed' | 'aborted' | undefined {
    const carries = (event: MaasEvent) => requestOf(event).comment === run;
    const deployed = this.#events.find((event) => /^User starting deployment/.test(event.type) && carries(event));
    if (deployed) return this.#newest(abortions.deployment, deployed.id) ? 'aborted' : 'deployed';
    return this.#events.some((event) => /^User acquiring/.test(event.type) && carries(event)) ? 'allocated' : undefined;
  }

  /** Whether this run was the last to allocate the machine, and it was not released since. */
  isAllocatedFor(run: string): boolean {
    const latest = this.#events.find(({ type }) => /^User (acquiring|releasing|erasing)/.test(type));
    return latest !== undefined && /^User acquiring/.test(latest.type) && requestOf(latest).comment === run;
  }

  /** Who released the machine after this run started. */
  releaseAfter(run: string): LoggedRequest | undefined {
    const started = this.#events.find((event) => requestOf(event).comment === run);
    return started && this.#newest(/^User (releasing|erasing)/, started.id);
  }

  /** The latest request that took the machine into use, or out of it. */
  lastUse(): (LoggedRequest & { readonly what: 'allocated' | 'deployed' | 'released' }) | undefined {
    const event = this.#events.find(({ type }) => uses.some(([pattern]) => pattern.test(type)));
    const use = event && uses.find(([pattern]) => pattern.test(event.type));
    return event && use && { ...requestOf(event), what: use[1] };
  }

  /** Who aborted the latest deployment or commissioning, if it was aborted. */
  abortion(of: 'deployment' | 'commissioning'): LoggedRequest | undefined {
    const start = this.#startOf(of);
    // MAAS logs the request first, with its user and comment, and then the abort without them.
    return this.#newest(requestedAbortions[of], start) ?? this.#newest(abortions[of], start);
  }

  /** Whether a commissioning was aborted after this moment and not started again. */
  wasCommissioningAbortedSince(ms: number): boolean {
    const start = this.#startOf('commissioning');
    // The log's times are whole seconds.
    const since = Math.floor(ms / 1000) * 1000;
    return this.#events.some(({ id, type, created }) => {
      const at = timeOf(created);
      return id > start && abortions.commissioning.test(type) && at !== undefined && at >= since;
    });
  }

  /** The errors of the latest deployment, each sentence once, newest first. */
  deploymentErrors(known: string): readonly string[] {
    const start = this.#startOf('deployment');
    const lines: string[] = [];
    for (const { id, level, type, description } of this.#events) {
      if (id <= start || (level !== 'ERROR' && level !== 'CRITICAL')) continue;
      const said = description === '' ? type : description;
      if (said === '' || [known, ...lines].some((line) => line.includes(said))) continue;
      lines.push(
        [type, description]
          .filter((text) => text !== '')
          .join(': ')
          .slice(0, longestLine),
      );
    }
    return lines;
  }

  #startOf(of: 'deployment' | 'commissioning'): number {
    return this.#events.find(({ type }) => starts[of].test(type))?.id ?? 0;
  }

  #newest(type: RegExp, after: number): LoggedRequest | undefined {
    const event = this.#events.find((one) => one.id > after && type.test(one.type));
    return event && requestOf(event);
  }
}

const uses = [
  [/^User acquiring/, 'allocated'],
  [/^User starting deployment/, 'deployed'],
  [/^User (releasing|erasing)/, 'released'],
] as const;
const starts = {
  deployment: /^(User starting deployment|Deploying$)/,
  commissioning: /^(User starting node commissioning|Commissioning$)/,
};
const abortions = {
  deployment: /^(User aborting deployment|Aborted deployment)/,
  commissioning: /^(User aborting node commissioning|Aborted commissioning)/,
};

const requestedAbortions = {
  deployment: /^User aborting deployment/,
  commissioning: /^User aborting node commissioning/,
};

/** MAAS writes `(user) - comment`. */
function requestOf({ created, description }: MaasEvent): LoggedRequest {
  const [, by = '', comment = ''] = /^\(([^)]*)\)(?: - ([\s\S]*))?/.exec(description) ?? [];
  return { by, at: created, comment };
}

/** `Sat, 21 Nov. 2026 13:21:03`, with months in AP style, or ISO 8601. */
function timeOf(created: string): number | undefined {
  const [, day, month, year, clock] = /(\d{1,2}) ([A-Z][a-z]{2})[a-z]*\.? (\d{4}) (\d\d:\d\d:\d\d)/.exec(created) ?? [];
  const ms = Date.parse(day === undefined ? created : `${day} ${month} ${year} ${clock} UTC`);
  return Number.isNaN(ms) ? undefined : ms;
}
