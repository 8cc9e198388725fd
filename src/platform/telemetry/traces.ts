import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { given } from '../../core/data/given.ts';
import { withoutEnd } from '../../core/text/text.ts';
import { withoutSecretTexts } from './log.ts';

type SpanKind = 'internal' | 'server' | 'client';
type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A started piece of work. */
export interface OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970. */
  readonly startMs: number;
}

interface EndedSpan extends OpenSpan {
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly error?: string;
}

interface TracesOptions {
  /** Base URL of the collector; `/v1/traces` is added. */
  readonly endpoint: string;
  /** `sitewright-api`, `sitewright-worker` */
  readonly service: string;
  readonly version: string;
  /** Called once per outage. */
  readonly onOutage?: (message: string) => void;
  readonly fetch?: typeof fetch;
}

const SEND_EVERY_MS = 5_000;
const SEND_LIMIT_MS = 10_000;
/** More spans are dropped: traces must never slow down the work they record. */
const MAX_WAITING = 4_000;
const MAX_AT_ONCE = 500;
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };

/**
 * Traces of one process, sent to a collector as OTLP over HTTP in JSON (opentelemetry.io, "OTLP specification" 1.x).
 * Continues the trace of a caller (W3C Trace Context), and tracks the current span of work.
 */
export class Traces {
  readonly #options: TracesOptions;
  readonly #current = new AsyncLocalStorage<OpenSpan>();
  readonly #timer: NodeJS.Timeout;
  #waiting: EndedSpan[] = [];
  #isDown = false;

  constructor(options: TracesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.flush(), SEND_EVERY_MS);
    this.#timer.unref();
  }

  /** @param traceparent header of a caller with a trace; a malformed one is ignored */
  begin(name: string, kind: SpanKind, traceparent?: string): OpenSpan {
    const outer = parentOf(traceparent) ?? this.#current.getStore();
    return {
      traceId: outer?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      parentId: outer?.spanId,
      name,
      kind,
      startMs: Date.now(),
    };
  }

  /** The current span as a header that continues its trace in another process; undefined outside of spans. */
  get traceparent(): string | undefined {
    const span = this.#current.getStore();
    return span === undefined ? undefined : `00-${span.traceId}-${span.spanId}-01`;
  }

  /** Runs work so that spans started in it are children of this span. */
  inside<T>(span: OpenSpan, work: () => T): T {
    return this.#current.run(span, work);
  }

  end(
    span: OpenSpan,
    attributes: Attributes = {},
    more: { readonly name?: string; readonly error?: string } = {},
  ): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push({ ...span, ...more, endMs: Date.now(), attributes });
  }

  /** Sends the waiting spans. Never fails: spans that cannot be sent are lost. */
  async flush(): Promise<void> {
    const { endpoint, onOutage, fetch: send = fetch } = this.#options;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_AT_ONCE);
      let problem: string | undefined;
      try {
        const answer = await send(`${withoutEnd(endpoint, '/')}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(this.#written(batch)),
          signal: AbortSignal.timeout(SEND_LIMIT_MS),
        });
        if (!answer.ok) problem = `it answered ${answer.status}`;
        await answer.body?.cancel();
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
      }
      if (problem !== undefined && !this.#isDown) onOutage?.(`traces cannot be sent to ${endpoint}: ${problem}`);
      this.#isDown = problem !== undefined;
      if (this.#isDown) return;
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  #written(spans: readonly EndedSpan[]): object {
    const { service, version } = this.#options;
    const resource = { attributes: written({ 'service.name': service, 'service.version': version }) };
    const scope = { name: 'sitewright', version };
    return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(writtenSpan) }] }] };
  }
}

const writtenSpan = ({
  traceId,
  spanId,
  parentId,
  name,
  kind,
  startMs,
  endMs,
  attributes,
  error,
}: EndedSpan): object => ({
  traceId,
  spanId,
  ...given({ parentSpanId: parentId }),
  name,
  kind: KINDS[kind],
  startTimeUnixNano: `${Math.round(startMs)}000000`,
  endTimeUnixNano: `${Math.round(endMs)}000000`,
  attributes: written(attributes),
  status: error === undefined ? {} : { code: 2, message: withoutSecretTexts(error).slice(0, 300) },
});

const written = (attributes: Attributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ key, value: typeof value === 'number' ? { intValue: String(Math.round(value)) } : { stringValue: value } }],
  );

function parentOf(traceparent: string | undefined): { readonly traceId: string; readonly spanId: string } | undefined {
  const [, traceId, spanId] = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId };
}
