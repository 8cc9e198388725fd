import type { FastifyReply } from 'fastify';
import { RequestError } from '../../problems/transport-problem.ts';

/** How much of archives an API takes. */
export interface ArchiveIntake {
  /** Of one archive, as it is sent. */
  readonly maxBytes: number;
  /** Uploads and downloads under way. */
  readonly atOnce: number;
}

/** `packages.archive_megabytes` and `packages.archives_at_once` where nothing else is set. */
export const DEFAULT_ARCHIVE_INTAKE: ArchiveIntake = { maxBytes: 64 * 1024 * 1024, atOnce: 4 };

/** Each archive under way takes disk or memory, so only so many are: the next one is refused, and may come again. */
export class ArchiveSlots {
  readonly #atOnce: number;
  #taken = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Takes a slot until the request has been answered, or its connection has closed. @throws RequestError `busy` */
  take({ raw }: FastifyReply): void {
    if (this.#taken >= this.#atOnce) {
      throw new RequestError({
        code: 'busy',
        message: `${this.#atOnce} archives are already in transfer`,
        hint: 'Retry in a few seconds; the setting packages.archives_at_once is the limit.',
      });
    }
    this.#taken += 1;
    raw.once('close', () => {
      this.#taken -= 1;
    });
  }
}
