import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/workflow';

/** Stands for a payload that cannot be decoded. */
export const UNREADABLE = Symbol('a payload that cannot be decoded');

/** The SDK's converter, except that an unreadable payload does not block the workflow that receives it for ever. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Parameters<PayloadConverter['fromPayload']>[0]): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch {
      // Receivers of user payloads accept anything.
      return UNREADABLE as T;
    }
  },
};
