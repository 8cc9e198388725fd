import type {
  CommitAnswer,
  GraphRunReport,
  GraphRunStatus,
  Health,
  MaasCheck,
  NodeHistoryPage,
  NodeStatuses,
  ProblemBody,
  RevisionFiles,
  RevisionPage,
  Run,
  RunDetail,
  RunNodeList,
  RunPage,
  RunReport,
  RunStatus,
  SelectedNodes,
  Site,
  SiteDifference,
  SiteList,
  StartRunBody,
  Strategy,
  TreeNode,
  Version,
} from '../core/contracts/index.js';
import { EXIT, exitCodeOfStatus } from './exit-codes.js';
import { CliError, type CliProblem, usageError } from './problem.js';

/** Longest wait for an answer. Updates of a run wait for its worker, which may be busy. */
const LIMIT_MS = 90_000;

export interface OperatorNote {
  readonly reason?: string;
  readonly by?: string;
}

/** Filters of lists of runs; a list means any of them. */
export interface RunQuery {
  readonly site?: string | undefined;
  readonly kind?: readonly string[] | undefined;
  readonly phase?: readonly string[] | undefined;
  readonly outcome?: readonly string[] | undefined;
  readonly label?: readonly string[] | undefined;
  readonly started_by?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly open?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
  readonly workflow_id?: string | undefined;
}

export interface CommitBody {
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly message?: string;
  readonly author?: string;
  readonly force?: boolean;
  readonly dry_run?: boolean;
}

export interface SelectorBody {
  readonly node_names?: readonly string[];
  readonly node_tags?: readonly string[];
  readonly node_labels?: readonly string[];
  readonly rack_names?: readonly string[];
}

export interface RequestParts {
  readonly query?: object;
  readonly body?: unknown;
  /** How a good answer is read. Default: as JSON. */
  readonly as?: 'json' | 'text';
}

/** One event of an answer that goes on. */
export interface ServerEvent {
  readonly event: string;
  /** Where to go on from. */
  readonly id: number;
  readonly data: unknown;
}

export interface ApiClientOptions {
  /** Base address, as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Who acts, for the audit trail. */
  readonly user?: string;
  /** Shown to the API with each request. */
  readonly token?: string;
  readonly fetch?: typeof fetch;
  readonly limitMs?: number;
}

/**
 * The REST API, typed. Every call throws a CliError: the API's problem with the exit code it means, or
 * `api-unreachable`.
 */
export class ApiClient {
  readonly url: string;
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.url = options.url.replace(/\/+$/, '');
    this.#options = options;
  }

  readonly sites = {
    list: () => this.#get<SiteList>('/sites'),
    create: (body: { readonly name: string; readonly cluster?: string }) => this.#post<Site>('/sites', body),
    get: (site: string) => this.#get<Site>(apiPath`/sites/${site}`),
    delete: (site: string) => this.#send<unknown>('DELETE', apiPath`/sites/${site}`),
    commit: (site: string, body: CommitBody) => this.#post<CommitAnswer>(apiPath`/sites/${site}/revisions`, body),
    revisions: (site: string, query: { readonly limit?: number | undefined; readonly before?: string | undefined }) =>
      this.#get<RevisionPage>(apiPath`/sites/${site}/revisions`, query),
    files: (site: string, revision: string) =>
      this.#get<RevisionFiles>(apiPath`/sites/${site}/revisions/${revision}/files`),
    strategy: (site: string, revision: string) =>
      this.#get<Strategy>(apiPath`/sites/${site}/revisions/${revision}/strategy`),
    difference: (site: string, revision: string, query: { readonly since?: string | undefined }) =>
      this.#get<SiteDifference>(apiPath`/sites/${site}/revisions/${revision}/difference`, query),
    select: (site: string, revision: string, selectors: readonly SelectorBody[]) =>
      this.#post<SelectedNodes>(apiPath`/sites/${site}/revisions/${revision}/select`, { selectors }),
    start: (site: string, body: StartRunBody) => this.#post<Run>(apiPath`/sites/${site}/runs`, body),
  };

  readonly nodes = {
    status: (site: string, revision?: string) =>
      this.#get<NodeStatuses>(apiPath`/sites/${site}/nodes/status`, { revision }),
    history: (site: string, node: string, query: { readonly limit?: number | undefined }) =>
      this.#get<NodeHistoryPage>(apiPath`/sites/${site}/nodes/${node}/history`, query),
  };

  readonly runs = {
    list: (query: RunQuery) => this.#get<RunPage>('/runs', query),
    get: (run: string) => this.#get<RunDetail>(apiPath`/runs/${run}`),
    status: (run: string, signal?: AbortSignal) =>
      this.#get<RunStatus | GraphRunStatus>(apiPath`/runs/${run}/status`, {}, signal),
    report: (run: string) => this.#get<RunReport | GraphRunReport>(apiPath`/runs/${run}/report`),
    tree: (run: string) => this.#get<TreeNode>(apiPath`/runs/${run}/tree`),
    nodes: (run: string) => this.#get<RunNodeList>(apiPath`/runs/${run}/nodes`),
    /** Pause, resume, stop, cancel. */
    act: (run: string, action: 'pause' | 'resume' | 'stop' | 'cancel', note: OperatorNote) =>
      this.#post<unknown>(apiPath`/runs/${run}/${action}`, note),
    retry: (run: string, node: string, note: OperatorNote) =>
      this.#post<RunStatus>(apiPath`/runs/${run}/nodes/${node}/retry`, note),
    /** Retry or skip a task (`task@node`) of a run of graphs. */
    task: (run: string, task: string, verb: 'retry' | 'skip', note: OperatorNote) =>
      this.#post<GraphRunStatus>(`${apiPath`/runs/${run}/tasks/${task}`}/${verb}`, note),
  };

  /** Events of an answer that goes on, as they come; ends with the answer. The API's limits of time do not hold. */
  async *events<E extends ServerEvent>(at: string, query: object, signal: AbortSignal): AsyncGenerator<E, void, void> {
    const ask = this.#options.fetch ?? fetch;
    let answer: Response;
    try {
      answer = await ask(`${this.url}/api/v1${at}${queryText(query)}`, {
        headers: { accept: 'text/event-stream, application/problem+json', ...this.#credentials() },
        signal,
      });
    } catch (error) {
      throw signal.aborted ? error : this.#unreachable(error, undefined);
    }
    if (!answer.ok || answer.body === null) {
      const problem = this.#problemOf(answer.status, readJson(await answer.text()));
      throw new CliError(problem, exitCodeOfStatus(answer.ok ? 502 : answer.status));
    }
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const bytes of answer.body) {
        text += decoder.decode(bytes, { stream: true });
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) yield readEvent<E>(event);
      }
    } catch (error) {
      throw signal.aborted ? error : this.#unreachable(error, undefined);
    }
  }

  /**
   * Any path of the API below /api/v1, as commands on clusters and graphs use it; `at` by `apiPath`. A body of bytes
   * is an archive.
   */
  request<T>(method: string, at: string, more: RequestParts = {}): Promise<T> {
    const { query = {}, body, as = 'json' } = more;
    return this.#send<T>(method, at + queryText(query), body as object | undefined, undefined, [], as);
  }

  readonly maas = { check: () => this.#get<MaasCheck>('/maas/check') };

  /** Also when the answer is that something is away. */
  readonly health = () => this.#send<Health>('GET', '/health', undefined, undefined, [503]);
  readonly version = () => this.#get<Version>('/version');

  #credentials(): Readonly<Record<string, string>> {
    const { token } = this.#options;
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  #get<T>(at: string, query: object = {}, signal?: AbortSignal): Promise<T> {
    return this.#send<T>('GET', at + queryText(query), undefined, signal);
  }

  #post<T>(at: string, body: object): Promise<T> {
    return this.#send<T>('POST', at, body);
  }

  async #send<T>(
    method: string,
    at: string,
    body?: object,
    signal?: AbortSignal,
    alsoGood: readonly number[] = [],
    as: 'json' | 'text' = 'json',
  ): Promise<T> {
    const { user, limitMs = LIMIT_MS } = this.#options;
    const ask = this.#options.fetch ?? fetch;
    const limit = AbortSignal.timeout(limitMs);
    let answer: Response;
    let text: string;
    try {
      answer = await ask(`${this.url}/api/v1${at}`, {
        method,
        headers: {
          accept: as === 'text' ? '*/*' : 'application/json, application/problem+json',
          ...(user === undefined ? {} : { 'x-sitewright-user': user }),
          ...this.#credentials(),
          ...(body === undefined
            ? {}
            : { 'content-type': body instanceof Uint8Array ? 'application/gzip' : 'application/json' }),
        },
        ...(body === undefined ? {} : { body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body) }),
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
      });
      text = await answer.text();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw this.#unreachable(error, limit.aborted ? limitMs : undefined);
    }
    if (as === 'text' && answer.ok) return text as T;
    const read = readJson(text);
    const good = answer.ok || (alsoGood.includes(answer.status) && !isProblem(read));
    if (good && (text === '' || read !== undefined)) return read as T;
    throw new CliError(this.#problemOf(answer.status, read), exitCodeOfStatus(good ? 502 : answer.status));
  }

  #problemOf(status: number, body: unknown): CliProblem {
    if (isProblem(body)) {
      const { code, message, detail, title, hint, errors, run } = body;
      return {
        code,
        message: message ?? detail ?? title ?? `the API answered ${status}`,
        ...(hint === undefined ? {} : { hint }),
        ...(errors?.length ? { errors: errors as NonNullable<CliProblem['errors']> } : {}),
        ...(run === undefined ? {} : { run }),
      };
    }
    return {
      code: 'not-our-api',
      message: `${this.url} answered ${status}, but not as the API of Sitewright does`,
      hint: 'Is another program listening there? Name the right address with --api or SITEWRIGHT_API.',
    };
  }

  #unreachable(error: unknown, afterMs: number | undefined): CliError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = (cause as { code?: unknown } | null)?.code;
    const why =
      afterMs !== undefined
        ? `no answer within ${afterMs / 1000} s`
        : code === 'ECONNREFUSED'
          ? 'nothing listens there'
          : cause instanceof Error
            ? cause.message || String(code)
            : String(cause);
    return new CliError(
      {
        code: 'api-unreachable',
        message: `the API at ${this.url} cannot be reached: ${why}`,
        hint: "Start it with 'sitewright up', or name its address with --api or SITEWRIGHT_API. 'sitewright doctor' checks everything.",
      },
      EXIT.unreachable,
    );
  }
}

/** Only the values are escaped: names with slashes stay one step of the path. */
export function apiPath(steps: TemplateStringsArray, ...values: readonly string[]): string {
  // A URL would take these for folders.
  const bad = values.find((value) => value === '' || value === '.' || value === '..');
  if (bad !== undefined) throw usageError(`'${bad}' is no name`);
  return steps.map((step, at) => step + (at < values.length ? encodeURIComponent(values[at]!) : '')).join('');
}

function queryText(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function readEvent<E extends ServerEvent>(text: string): E {
  const fields = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  return { event: fields.get('event'), id: Number(fields.get('id')), data: readJson(fields.get('data') ?? '') } as E;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isProblem = (body: unknown): body is Partial<ProblemBody> & { code: string } =>
  typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string';
