import { Buffer } from 'node:buffer';
import { type TaskOnNode, taskKey } from '../../core/task-on-node.ts';
import { notFound } from '../failure.ts';
import { fromJson, InputCheck, storable } from '../input.ts';
import type { Json } from '../page.ts';
import type { Session } from '../session.ts';
import { inBatches } from './batches.ts';
import { packText, textPacker, unpackPieces, unpackText } from './contents.ts';

export interface NewPlan {
  /** The caller's hash of the content: equal hashes mean equal plans. */
  readonly hash: string;
  /** Describes the plan without loading it, e.g. the PlanReference of activities/graph-contract.ts. */
  readonly reference: unknown;
  /** The text chunks of each part, in order. */
  readonly parts: readonly (readonly string[])[];
  /** Chunks of the coordinator's input; empty for a single part. */
  readonly coordination: readonly string[];
}

/** What grows with the tasks of a plan, of some of its nodes. */
export interface PlanRange {
  /** The work of the agents: type, parameters, time limit, secrets … as any JSON. Each (node, task) pair once; all of a node in one range. */
  readonly orders: readonly (TaskOnNode & { readonly order: unknown })[];
  /** The next piece of the JSON text of the plan with its explanation, for people and for reports. */
  readonly explanation: string;
}

/** Adds to a plan range by range. Nothing is read of it before the end. */
interface PlanWriter {
  add(range: PlanRange): Promise<void>;
  end(): Promise<void>;
}

/** Number of orders compressed together: more save space, fewer make single reads faster. */
const BLOCK = 16;

/** Part number of the coordinator's chunks. */
const COORDINATION = -1;

/** Of a plan that is not complete. */
const NO_EXPLANATION = new Uint8Array();

/** Plans, cut for execution. A plan never changes once it is complete; until then it may be written again. An unknown hash is `not-found`. */
export class PlanStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Begins a plan. If it is complete, it is marked as used now, and its writer writes nothing. */
  async write(plan: NewPlan): Promise<PlanWriter> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const hash = check.key('hash', plan.hash);
    const reference = check.json('reference', plan.reference);
    check.done();
    const chunks = await packChunks(hash, plan);
    const isComplete = await this.#session.write(async (transaction) => {
      const stored = await transaction
        .insertInto('plan')
        .values({ hash, reference, explanation: NO_EXPLANATION, createdAt: now, usedAt: now })
        .onConflict((on) => on.column('hash').doUpdateSet({ usedAt: now }))
        .returning(({ fn }) => fn<number>('length', ['explanation']).as('size'))
        .executeTakeFirstOrThrow();
      if (stored.size > 0) return true;
      for (const batch of inBatches(chunks))
        await transaction
          .insertInto('planChunk')
          .values(batch)
          .onConflict((on) => on.doNothing())
          .execute();
      return false;
    });
    return isComplete ? { add: nothing, end: nothing } : this.#writer(hash);
  }

  #writer(hash: string): PlanWriter {
    const explanation = textPacker();
    const seen = new Set<string>();
    return {
      add: async (range) => {
        const check = new InputCheck();
        const orders = sortedOrders(check, range.orders, seen);
        check.done();
        await explanation.add(range.explanation);
        const blocks = await packBlocks(hash, orders);
        await this.#session.write(async (transaction) => {
          for (const batch of inBatches(blocks))
            await transaction
              .insertInto('planOrderBlock')
              .values(batch)
              .onConflict((on) => on.doNothing())
              .execute();
        });
      },
      end: async () => {
        const bytes = await explanation.end();
        await this.#session.write((transaction) =>
          transaction.updateTable('plan').set({ explanation: bytes }).where('hash', '=', hash).execute(),
        );
      },
    };
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

  /** In pieces: that of a large run has hundreds of megabytes. */
  async getExplanation(hash: string): Promise<AsyncIterable<string>> {
    const row = await this.#session.read((db) =>
      db.selectFrom('plan').select('explanation').where('hash', '=', storable(hash)).executeTakeFirst(),
    );
    if (row === undefined || row.explanation.length === 0) throw planNotFound(hash);
    return unpackPieces(row.explanation);
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

const nothing = async (): Promise<void> => undefined;

/** A task and the JSON text of its order. */
type OrderText = readonly [task: string, order: string];

/** Orders by node; those of a node in byte order, the databases' order of text. `seen` are the nodes of all ranges. */
function sortedOrders(check: InputCheck, orders: PlanRange['orders'], seen: Set<string>): Map<string, OrderText[]> {
  const byNode = new Map<string, Map<string, string>>();
  for (const [index, { node, task, order }] of orders.entries()) {
    const path = `orders[${index}]`;
    const name = check.key(`${path}.node`, node);
    let ofNode = byNode.get(name);
    if (ofNode === undefined) {
      if (seen.has(name)) check.refuse(path, `${name} has orders in two ranges.`, 'Give a node its orders together.');
      seen.add(name);
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
