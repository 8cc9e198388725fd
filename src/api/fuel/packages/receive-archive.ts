import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';
import { RequestError, readableBytes } from '../../problems/transport-problem.ts';

/** Types archives are sent as. */
const ARCHIVE_TYPES = ['application/gzip', 'application/x-gzip', 'application/x-tar', 'application/octet-stream'];

/** For routes that take archives: the body stays a stream, and is never in memory as a whole. */
export function readArchiveBodies(app: FastifyInstance): void {
  app.addContentTypeParser(ARCHIVE_TYPES, (_request, payload, done) => done(null, payload));
}

/**
 * Writes the body of a request to a temporary file for as long as `use` works with it.
 * @throws RequestError `too-large`, `invalid` for a request without an archive
 */
export async function withReceivedArchive<T>(
  body: unknown,
  limit: number,
  use: (file: string) => Promise<T>,
): Promise<T> {
  if (typeof (body as IncomingMessage | undefined)?.pipe !== 'function') {
    throw new RequestError({
      code: 'invalid',
      message: 'the request contains no archive',
      hint: 'Send the file that `sitewright package build` made, with Content-Type: application/gzip.',
    });
  }
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-upload-'));
  try {
    const file = join(folder, 'archive.tar.gz');
    let bytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        if (bytes > limit) done(tooLarge(limit));
        else done(null, chunk);
      },
    });
    await pipeline(body as IncomingMessage, measure, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    if (bytes === 0) {
      throw new RequestError({ code: 'invalid', message: 'the archive is empty', hint: 'Send the whole file.' });
    }
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const tooLarge = (limit: number) =>
  new RequestError({
    code: 'too-large',
    message: `the archive is larger than ${readableBytes(limit)}`,
    hint: 'Remove package repositories and images from the package.',
  });
