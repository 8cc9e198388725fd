import { type MaasConnection, segment } from './connection.ts';
import { asList, asNumber, asObject, asText } from './lenient.ts';

/** `AUDIT` is the lowest level, `CRITICAL` the highest. */
type EventLevel = 'AUDIT' | 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

interface EventQuery {
  readonly systemIds?: readonly string[];
  readonly hostnames?: readonly string[];
  /** This level and above. */
  readonly level?: EventLevel;
  /** 1 to 1000; MAAS' default is 100. */
  readonly limit?: number;
  /** Events after this id, to follow the log. */
  readonly after?: number;
  readonly before?: number;
}
export interface MaasEvent {
  readonly id: number;
  readonly systemId: string;
  readonly hostname: string;
  readonly level: string;
  readonly type: string;
  readonly description: string;
  /** MAAS' text of the time. */
  readonly created: string;
}

export type ResultType = 'commissioning' | 'testing' | 'installation' | 'release';
interface ScriptResult {
  readonly name: string;
  /** MAAS' number: 2 passed, 3 failed, 4 timed out, 5 aborted, 8 failed to install, … */
  readonly status: number;
  readonly statusName: string;
  readonly exitStatus: number | undefined;
  /** Seconds since 1970; absent when it never started. */
  readonly startedAt: number | undefined;
  /** Standard output and error combined, if requested. */
  readonly output: string;
}

export interface BootResource {
  readonly id: number;
  /** e.g. `ubuntu/jammy`. */
  readonly name: string;
  /** e.g. `amd64/ga-22.04`. */
  readonly architecture: string;
  readonly type: string;
  readonly subarches: readonly string[];
}

/** Reads that explain or precede a deployment: events, script results, images, settings. */
export class DiagnosticCalls {
  readonly #maas: MaasConnection;

  constructor(maas: MaasConnection) {
    this.#maas = maas;
  }

  /** Newest first. */
  async events(query: EventQuery = {}, signal?: AbortSignal): Promise<readonly MaasEvent[]> {
    const answer = await this.#maas.object('events/', {
      query: {
        op: 'query',
        id: query.systemIds,
        hostname: query.hostnames,
        level: query.level,
        limit: query.limit === undefined ? undefined : Math.min(Math.max(1, query.limit), 1000),
        after: query.after,
        before: query.before,
      },
      signal,
    });
    return asList(answer.events).map((item) => {
      const o = asObject(item);
      return {
        id: asNumber(o.id) ?? -1,
        systemId: asText(o.node),
        hostname: asText(o.hostname),
        level: asText(o.level),
        type: asText(o.type),
        description: asText(o.description),
        created: asText(o.created),
      };
    });
  }

  /** Scripts of the latest set of that type; empty when there is none. */
  async scriptResults(
    systemId: string,
    type: ResultType,
    options: { readonly includeOutput?: boolean } = {},
    signal?: AbortSignal,
  ): Promise<readonly ScriptResult[]> {
    const query = { type, include_output: options.includeOutput };
    const sets = (await this.#maas.list(`nodes/${segment(systemId)}/results/`, { query, signal })).map(asObject);
    const latest = sets.reduce<(typeof sets)[number] | undefined>(
      (best, set) => (best === undefined || (asNumber(set.id) ?? -1) > (asNumber(best.id) ?? -1) ? set : best),
      undefined,
    );
    return asList(latest?.results).map(parseResult);
  }

  async bootResources(signal?: AbortSignal): Promise<readonly BootResource[]> {
    return (await this.#maas.list('boot-resources/', { signal })).map((item) => {
      const o = asObject(item);
      return {
        id: asNumber(o.id) ?? -1,
        name: asText(o.name),
        architecture: asText(o.architecture),
        type: asText(o.type),
        subarches: asText(o.subarches)
          .split(',')
          .filter((name) => name !== ''),
      };
    });
  }

  /** Whether MAAS is importing images now. */
  async isImporting(signal?: AbortSignal): Promise<boolean> {
    return (await this.#maas.get('boot-resources/', { query: { op: 'is_importing' }, signal })) === true;
  }

  /** One setting of the region, as MAAS sends it (administrators only). */
  setting(name: string, signal?: AbortSignal): Promise<unknown> {
    return this.#maas.get('maas/', { query: { op: 'get_config', name }, signal });
  }
}

function parseResult(value: unknown): ScriptResult {
  const o = asObject(value);
  const encoded = asText(o.output) || asText(o.stdout);
  return {
    name: asText(o.name),
    status: asNumber(o.status) ?? -1,
    statusName: asText(o.status_name),
    exitStatus: asNumber(o.exit_status),
    startedAt: asNumber(o.starttime),
    output: Buffer.from(encoded, 'base64').toString('utf8'),
  };
}
