import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gunzip, gzip } from 'node:zlib';
import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../tables.ts';
import { inBatches } from './batches.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** A fast level: a third of the default level's time for a tenth more bytes. */
export const packText = (text: string): Promise<Buffer> => compress(text, { level: 3 });

/** What of a text in pieces is packed at once, in characters. */
const PACKED_AT_ONCE = 2 ** 20;
/** Of a text in pieces, in bytes. */
const UNPACKED_AT_ONCE = 2 ** 18;

/**
 * Packs a text that comes in pieces, as members of one gzip; a short one as `packText` does. Not by a stream: lives in virtual time have
 * `gzip` at once, and would go on meanwhile.
 */
export function textPacker(): { add(piece: string): Promise<void>; end(): Promise<Buffer> } {
  const members: Buffer[] = [];
  let pieces: string[] = [];
  let characters = 0;
  const pack = async (): Promise<void> => {
    const text = pieces.join('');
    [pieces, characters] = [[], 0];
    members.push(await packText(text));
  };
  return {
    async add(piece) {
      pieces.push(piece);
      characters += piece.length;
      if (characters >= PACKED_AT_ONCE) await pack();
    },
    async end() {
      if (characters > 0 || members.length === 0) await pack();
      return Buffer.concat(members);
    },
  };
}

export const unpackText = async (bytes: Uint8Array): Promise<string> => (await decompress(bytes)).toString();

/** The same in pieces. Nothing is unpacked before it is asked for. */
export async function* unpackPieces(bytes: Uint8Array): AsyncIterable<string> {
  yield* Readable.from([bytes])
    .pipe(createGunzip({ chunkSize: UNPACKED_AT_ONCE }))
    .setEncoding('utf8');
}

/** A compressed text for the table of texts that rows share. */
export interface PackedContent {
  readonly hash: string;
  readonly bytes: Buffer;
}

export async function packContent(text: string): Promise<PackedContent> {
  return { hash: createHash('sha256').update(text).digest('hex'), bytes: await packText(text) };
}

/** The same of a text that comes in pieces. */
export function contentPacker(): { add(piece: string): Promise<void>; end(): Promise<PackedContent> } {
  const hash = createHash('sha256');
  const packer = textPacker();
  return {
    add: (piece) => {
      hash.update(piece);
      return packer.add(piece);
    },
    end: async () => ({ hash: hash.digest('hex'), bytes: await packer.end() }),
  };
}

/**
 * Stores a text unless it exists. Updating its hash to itself locks the row: a transaction that is dropping the text
 * waits for ours; if it came first, the text is stored again.
 */
export async function keepContent(transaction: Transaction<Tables>, content: PackedContent): Promise<void> {
  await transaction
    .insertInto('content')
    .values({ hash: content.hash, bytes: content.bytes })
    .onConflict((on) => on.column('hash').doUpdateSet({ hash: content.hash }))
    .execute();
}

/** Drops the texts that no row refers to any more. Call it after deleting the rows. */
export async function dropContents(transaction: Transaction<Tables>, hashes: readonly string[]): Promise<void> {
  for (const batch of inBatches([...new Set(hashes)].sort())) {
    // Lock first and check in a separate statement, to see rows that others have just added.
    await transaction
      .updateTable('content')
      .set((column) => ({ hash: column.ref('hash') }))
      .where('hash', 'in', batch)
      .execute();
    await transaction
      .deleteFrom('content')
      .where('hash', 'in', batch)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('transactionSnapshot')
              .select('kind')
              .whereRef('transactionSnapshot.content', '=', 'content.hash'),
          ),
        ),
      )
      .where((eb) =>
        eb.not(eb.exists(eb.selectFrom('taskState').select('node').whereRef('taskState.content', '=', 'content.hash'))),
      )
      .execute();
  }
}

/** Texts by hash; the result omits unknown hashes. */
export async function readContents(
  db: Kysely<Tables>,
  hashes: readonly string[],
): Promise<readonly { readonly hash: string; readonly bytes: Uint8Array }[]> {
  if (hashes.length === 0) return [];
  return db.selectFrom('content').selectAll().where('hash', 'in', hashes).execute();
}
