import { Buffer } from 'node:buffer';
import type { Transaction } from 'kysely';
import { type TaskOnNode, taskKey } from '../../core/task-on-node.ts';
import { notFound } from '../failure.ts';
import { fromJson, InputCheck, storable } from '../input.ts';
import type { Json } from '../page.ts';
import type { Session } from '../session.ts';
import type { Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { packText, unpackText } from './contents.ts';

export interface NewPlan {
  /** The caller's hash of the content: equal hashes mean equal plans. */
  readonly hash: string;
  /** Describes the plan without loading it, e.g. the PlanReference of activities/graph-contract.ts. */
  readonly reference: unknown;
  /** The text chunks of each part, in order. */
  readonly parts: readonly (readonly string[])[];
  /** Chunks of the coordinator's input; empty for a single part. */
  readonly coordination: readonly string[];
  /** The work of the agents: type, parameters, time limit, secrets … as any JSON. Each (node, task) pair once. */
  readonly orders: readonly (TaskOnNode & { readonly order: unknown })[];
  /** JSON text of the plan with its explanation, for people and for reports. */
  readonly explanation: string;
}

/** Number of orders compressed together: more save space, fewer make single reads faster. */
const BLOCK = 16;

/** Part number of the coordinator's chunks. */
const COORDINATION = -1;

/** Plans, cut for execution. A plan never changes once stored. An unknown hash is `not-found`. */
export class PlanStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Stores the plan. If its hash exists, only marks it as used now. */
  async put(plan: NewPlan): Promise<{ readonly created: boolean }> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const hash = check.key('hash', plan.hash);
    const reference = check.json('reference', plan.reference);
    const orders = sortedOrders(check, plan.orders);
    check.done();
    if (await this.#session.write((transaction) => markUsed(transaction, hash, now))) return { created: false };
    const explanation = await packText(plan.explanation);
    const chunks = await packChunks(hash, plan);
    const blocks = await packBlocks(hash, orders);
    return this.#session.write(async (transaction) => {
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('plan')
        .values({ hash, reference, explanation, createdAt: now, usedAt: now })
        .onConflict((on) => on.column('hash').doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows !== 1n) {
        await markUsed(transaction, hash, now);
        return { created: false };
      }
      for (const batch of inBatches(chunks)) await transaction.insertInto('planChunk').values(batch).execute();
      for (const batch of inBatches(blocks)) await transaction.insertInto('planOrderBlock').values(batch).execute();
      return { created: true };
    });
  }

  getReference(hash: string): Promise<Json> {
    return this.#session.read(async (db) => {
      const row = await db.selectFrom('plan').select('reference').where('hash', '=', storable(hash)).executeTakeFirst();
      if (row === undefined) throw planNotFound(hash);
      return fromJson(row.reference);
    });
  }

  /** A chunk, counted from 0. @throws `not-found` when there is no such part or chunk. */
  async getChunk(hash: string, part: number | 'coordination', chunk: number): Promise<string> {
    const number = part === 'coordination' ? COORDINATION : part;
    const row = await this.#session.read(async (db) => {
      if (!Number.isSafeInteger(chunk) || !Number.isSafeInteger(number) || (part !== 'coordination' && number < 0)) {
        return undefined;
      }
      return db
        .selectFrom('planChunk')
        .select('text')
        .where('plan', '=', storable(hash))
        .where('part', '=', number)
        .where('chunk', '=', chunk)
        .executeTakeFirst();
    });
    if (row === undefined) throw notFound('chunk', `${hash} ${part}/${chunk}`, 'Take the counts from the reference.');
    return unpackText(row.text);
  }

  /** Reads one order and a few neighbours, never a node's whole list. @throws `not-found` */
  async getOrder(hash: string, node: string, task: string): Promise<Json> {
    const row = await this.#session.read((db) =>
      db
        .selectFrom('planOrderBlock')
        .select('orders')
        .where('plan', '=', storable(hash))
        .where('node', '=', storable(node))
        .where('firstTask', '<=', storable(task))
        .orderBy('firstTask', 'desc')
        .limit(1)
        .executeTakeFirst(),
    );
    const found = row && (await unpackBlock(row.orders)).find(([name]) => name === storable(task));
    if (found === undefined) {
      throw notFound('order', taskKey(task, node), `Plan ${hash} has no such task for this node, or is not stored.`);
    }
    return found[1];
  }

  async getExplanation(hash: string): Promise<string> {
    const row = await this.#session.read((db) =>
      db.selectFrom('plan').select('explanation').where('hash', '=', storable(hash)).executeTakeFirst(),
    );
    if (row === undefined) throw planNotFound(hash);
    return unpackText(row.explanation);
  }

  /**
   * Removes plans that no transaction refers to and that were last put before `before` (ISO 8601). Returns how many.
   */
  async prune(before: string): Promise<number> {
    const check = new InputCheck();
    const moment = check.time('before', before);
    check.done();
    return this.#session.write(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom('plan')
        .where('usedAt', '<', moment)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('deploymentTransaction')
                .select('deploymentTransaction.id')
                .whereRef('deploymentTransaction.planHash', '=', 'plan.hash'),
            ),
          ),
        )
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    });
  }
}

const planNotFound = (hash: string) => notFound('plan', hash, 'Plan the graph again.');

/** False when the plan is not stored. */
async function markUsed(transaction: Transaction<Tables>, hash: string, usedAt: string): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('plan')
    .set({ usedAt })
    .where('hash', '=', hash)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** A task and the JSON text of its order. */
type OrderText = readonly [task: string, order: string];

/** Orders by node; those of a node in byte order, the databases' order of text. */
function sortedOrders(check: InputCheck, orders: NewPlan['orders']): Map<string, OrderText[]> {
  const byNode = new Map<string, Map<string, string>>();
  for (const [index, { node, task, order }] of orders.entries()) {
    const path = `orders[${index}]`;
    const name = check.key(`${path}.node`, node);
    let ofNode = byNode.get(name);
    if (ofNode === undefined) {
      ofNode = new Map();
      byNode.set(name, ofNode);
    }
    const id = check.key(`${path}.task`, task);
    if (ofNode.has(id)) check.refuse(path, `There are two orders for ${taskKey(id, name)}.`, 'Keep one of them.');
    ofNode.set(id, check.json(`${path}.order`, order));
  }
  const byBytes = ([one]: OrderText, [other]: OrderText) => Buffer.compare(Buffer.from(one), Buffer.from(other));
  return new Map([...byNode].map(([node, ofNode]) => [node, [...ofNode].sort(byBytes)]));
}

async function packBlocks(plan: string, orders: ReadonlyMap<string, readonly OrderText[]>) {
  const blocks: { plan: string; node: string; firstTask: string; orders: Uint8Array }[] = [];
  for (const [node, ofNode] of orders) {
    for (let start = 0; start < ofNode.length; start += BLOCK) {
      const block = ofNode.slice(start, start + BLOCK);
      const text = block.map(([task, order]) => `[${JSON.stringify(task)},${order}]`).join(',');
      blocks.push({ plan, node, firstTask: block[0]?.[0] ?? '', orders: await packText(`[${text}]`) });
    }
  }
  return blocks;
}

const unpackBlock = async (bytes: Uint8Array): Promise<(readonly [string, Json])[]> =>
  JSON.parse(await unpackText(bytes)) as [string, Json][];

async function packChunks(plan: string, { parts, coordination }: NewPlan) {
  const chunks: { plan: string; part: number; chunk: number; text: Uint8Array }[] = [];
  const lists = [[COORDINATION, coordination] as const, ...parts.entries()];
  for (const [part, texts] of lists) {
    for (const [chunk, text] of texts.entries()) chunks.push({ plan, part, chunk, text: await packText(text) });
  }
  return chunks;
}
