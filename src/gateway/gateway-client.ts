import { z } from 'zod';
import type { ControlJudge, ControlOrder, Execution, LogChunk, Order, OrderSource, Verifier } from '../agent/index.ts';
import { given } from '../core/data/given.ts';
import { type ExecutionKey, executionKey, type RunTask } from '../core/task-on-node.ts';
import { type GatewayConnection, GatewayRefused, type OpenTransport } from './gateway-connection.ts';
import { type ControlTarget, verifyControl } from './identity/control-statement.ts';
import { type Verdict, verifyOrder } from './identity/verify-order.ts';
import {
  connectionOf,
  type NodeCredentials,
  renewalDue,
  renewCredentials,
  renewOrderKeys,
} from './node-credentials.ts';

const orderAnswer = z.object({ execution: z.looseObject({}), proof: z.string() });
const controlAnswer = z.object({ proof: z.string() });
const secretAnswer = z.object({ value: z.string() });

/**
 * The gateway's client in a node's agent: fetches its orders and verifies them. Renews the node's credentials in time,
 * and fetches the order keys when it finds an unknown one.
 */
export class GatewayClient implements OrderSource, ControlJudge {
  readonly #folder: string;
  readonly #now: () => Date;
  readonly #open: OpenTransport | undefined;
  #credentials: NodeCredentials;
  #connection: GatewayConnection;

  /**
   * @param folder of the credentials
   * @param open how it reaches the gateway; default: over TLS
   */
  constructor(folder: string, credentials: NodeCredentials, now: () => Date = () => new Date(), open?: OpenTransport) {
    this.#folder = folder;
    this.#credentials = credentials;
    this.#open = open;
    this.#connection = connectionOf(credentials, open);
    this.#now = now;
  }

  get credentials(): NodeCredentials {
    return this.#credentials;
  }

  async fetch(key: RunTask): Promise<Order> {
    const { run, task, node, generation, plan, type, mode, debug } = key;
    const request = { run, task, node, generation, plan, type, mode, ...given({ debug }) };
    const { execution, proof } = await this.#connection.ask('/v1/order', { json: request }, orderAnswer);
    return { execution: execution as unknown as Execution, proof };
  }

  async secret(ref: string, key: ExecutionKey): Promise<string> {
    return (await this.#connection.ask('/v1/secret', { json: { ...executionKey(key), ref } }, secretAnswer)).value;
  }

  async source(path: string, key: ExecutionKey): Promise<Uint8Array> {
    return await this.#connection.bytes('/v1/source', { json: { ...executionKey(key), path } });
  }

  async ship(key: ExecutionKey, chunk: LogChunk): Promise<void> {
    if (chunk.kind === 'ended') {
      await this.#connection.bytes('/v1/result', { json: { ...executionKey(key), result: chunk.result } });
      return;
    }
    const { stream, offset } = chunk;
    const query = new URLSearchParams({
      ...executionKey(key),
      generation: String(key.generation),
      stream,
      offset: String(offset),
    });
    await this.#connection.bytes(`/v1/output?${query.toString()}`, { bytes: chunk.bytes });
  }

  /** Verifies orders for this node: refuses orders that are not signed for it, and reports it to the orchestrator. */
  readonly verify: Verifier = async (order, key) => {
    const verdict = await this.#judged(({ site, order_keys }) =>
      verifyOrder(order, { ...key, site }, order_keys, this.#now()),
    );
    if (verdict.ok) return undefined;
    await this.alarm(verdict.rejection, verdict.message, key);
    return `was not run: ${verdict.message}`;
  };

  async cancelled(key: ExecutionKey): Promise<ControlOrder | undefined> {
    const target = { verb: 'cancel', site: this.#credentials.site, ...executionKey(key) } as const;
    return await this.#ordered('/v1/cancel', executionKey(key), target, key);
  }

  async drained(node: string, instance: string): Promise<ControlOrder | undefined> {
    const target = { verb: 'drain', site: this.#credentials.site, node, instance } as const;
    return await this.#ordered('/v1/drain', { instance }, target);
  }

  /** A signed order to cancel or drain for this node; undefined when the gateway has none. */
  async #ordered(
    path: string,
    request: object,
    target: ControlTarget,
    key?: ExecutionKey,
  ): Promise<ControlOrder | undefined> {
    let proof: string;
    try {
      ({ proof } = await this.#connection.ask(path, { json: request }, controlAnswer));
    } catch (error) {
      if (error instanceof GatewayRefused) return undefined;
      throw error;
    }
    const verdict = await this.#judged(({ order_keys }) => verifyControl(proof, target, order_keys, this.#now()));
    if (verdict.ok) return verdict.order;
    await this.alarm(verdict.rejection, verdict.message, key);
    return undefined;
  }

  async #judged<V extends { readonly ok: true } | Extract<Verdict, { ok: false }>>(
    judge: (credentials: NodeCredentials) => V,
  ): Promise<V> {
    const verdict = judge(this.#credentials);
    if (verdict.ok || verdict.rejection !== 'unknown-key') return verdict;
    // Keys change. The gateway itself, under its certificate, lists the current ones.
    this.#credentials = await renewOrderKeys(this.#folder, this.#credentials, this.#open);
    return judge(this.#credentials);
  }

  /** Renews the certificate after a third of its lifetime; true if it did. Call it regularly. */
  async renewWhenDue(): Promise<boolean> {
    if (this.#now() < renewalDue(this.#credentials)) return false;
    this.#credentials = await renewCredentials(this.#folder, this.#credentials, this.#open);
    const former = this.#connection;
    this.#connection = connectionOf(this.#credentials, this.#open);
    await former.close();
    return true;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  readonly alarm = async (kind: string, message: string, key?: ExecutionKey): Promise<void> => {
    const about = key === undefined ? {} : { run: key.run, task: key.task, generation: key.generation };
    const alarm = { kind, message: message.slice(0, 1000), ...about };
    await this.#connection.bytes('/v1/alarm', { json: alarm }).catch(() => undefined);
  };
}
