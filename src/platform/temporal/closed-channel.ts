import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Parameters<Interceptor>[1]>;

/** `CANCELLED`, which is not tried again. */
const CANCELLED = 1;

/**
 * Repeats calls as the SDK does. It repeats them from a timer, where the error of a connection that was closed meanwhile would
 * end the process: here it ends the call.
 */
export function repeatCalls(options: Partial<Parameters<typeof defaultGrpcRetryOptions>[0]> = {}): Interceptor {
  const repeat = makeGrpcRetryInterceptor(defaultGrpcRetryOptions(options));
  return (call, next) => {
    let isRepeated = false;
    return repeat(call, (again) => {
      try {
        return next(again);
      } catch (error) {
        // The first one is not from the timer: its error reaches the caller.
        if (!isRepeated) throw error;
        return endedCall(error instanceof Error ? error.message : String(error));
      } finally {
        isRepeated = true;
      }
    });
  };
}

function endedCall(details: string): Call {
  const nothing = (): void => undefined;
  return {
    start: (metadata, listener) =>
      void setImmediate(() => listener?.onReceiveStatus?.({ code: CANCELLED, details, metadata: metadata.clone() })),
    sendMessage: nothing,
    sendMessageWithContext: nothing,
    startRead: nothing,
    halfClose: nothing,
    cancelWithStatus: nothing,
    getPeer: () => 'closed',
    getAuthContext: () => null,
  };
}
