import { StoreError, type StoreFailure } from '../../../src/store/index.ts';

/** The failure a call ends in; an error when it ends well or in anything but a StoreError. */
export async function failureOf(call: Promise<unknown>): Promise<StoreFailure> {
  try {
    await call;
  } catch (error) {
    if (error instanceof StoreError) return error.failure;
    throw error;
  }
  throw new Error('The call should have failed.');
}
