import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { ResolvedSite } from '../../documents/index.ts';
import type { InputCheck } from '../input.ts';

/** One file of documents, under the user's name for it. */
export interface RevisionFile {
  readonly name: string;
  readonly text: string;
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

interface PackedFiles {
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string;
  /** Bytes of all texts, uncompressed. */
  readonly size: number;
  readonly bytes: Buffer;
}

/**
 * Compresses a revision's files and hashes their content. The hash covers the JSON of each file's name and text, one
 * per line, in the given order. So the ends of files are unambiguous, and the order counts, because documents are read
 * in it.
 */
export async function packFiles(check: InputCheck, files: readonly RevisionFile[]): Promise<PackedFiles> {
  if (files.length === 0) check.refuse('files', 'A revision needs at least one file.', 'Name files or folders.');
  const names = new Set<string>();
  const hash = createHash('sha256');
  let size = 0;
  for (const [index, { name, text }] of files.entries()) {
    if (name === '') check.refuse(`files[${index}].name`, `File ${index + 1} has no name.`, 'Name it.');
    if (names.has(name)) {
      check.refuse(`files[${index}].name`, `Two files are named ${JSON.stringify(name)}.`, 'Rename one of them.');
    }
    names.add(name);
    size += Buffer.byteLength(text);
    hash.update(`${JSON.stringify([name, text])}\n`);
  }
  const bytes = await compress(JSON.stringify(files.map(({ name, text }) => ({ name, text }))));
  return { hash: hash.digest('hex'), size, bytes };
}

export async function unpackFiles(bytes: Uint8Array): Promise<readonly RevisionFile[]> {
  return JSON.parse((await decompress(bytes)).toString()) as RevisionFile[];
}

/** Of JSON, and so of memory where a revision is read: host profiles may repeat a small text on ten thousand nodes. */
const MAX_RESOLVED_BYTES = 32 * 1024 * 1024;

/** Compresses a resolved site. */
export async function packResolved(check: InputCheck, site: ResolvedSite | null): Promise<Buffer | null> {
  if (site === null) return null;
  const text = check.json('resolved', site);
  const size = Buffer.byteLength(text);
  if (size <= MAX_RESOLVED_BYTES) return compress(text);
  const megabytes = (bytes: number): number => Math.ceil(bytes / 1024 / 1024);
  check.refuse(
    'resolved',
    `The ${site.nodes.length} nodes have ${megabytes(size)} MB of settings with those of their host profiles; a site may have ${megabytes(MAX_RESOLVED_BYTES)} MB.`,
    'Shorten the host profiles, or divide the site.',
  );
  return null;
}

export const unpackResolved = async (bytes: Uint8Array): Promise<ResolvedSite> =>
  JSON.parse((await decompress(bytes)).toString()) as ResolvedSite;
