import type { ArchiveLimits } from '../../packages/index.ts';
import { serveThread } from '../../platform/threads/serve-thread.ts';
import { ProblemError } from '../problem.ts';
import { type Reader, readerOf } from './reader.ts';
import type { ReadingAnswer, ReadingRequest } from './reading-thread.ts';

// The program of a reading thread. Errors lose their class on the way to another thread, so refusals go as values.
serveThread(
  async (limits: ArchiveLimits) => {
    const reader = readerOf(limits);
    return async ({ work, given }: ReadingRequest<keyof Reader>): Promise<ReadingAnswer<keyof Reader>> => {
      // `given` is the argument of this work.
      const read = reader[work] as (given: unknown) => ReturnType<Reader[keyof Reader]>;
      try {
        return { value: await read(given) };
      } catch (error) {
        if (error instanceof ProblemError) return { refused: error.problem };
        throw error;
      }
    };
  },
  { givesWay: true },
);
