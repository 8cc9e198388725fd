import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** Failures in histories are for people: without stack traces, which show folders of this machine. The log has them. */
export const plainFailures: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        for (let one: unknown = error; one instanceof Error; one = one.cause) one.stack = '';
        throw error;
      }
    },
  },
});
