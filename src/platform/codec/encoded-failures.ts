import { DefaultFailureConverter } from '@temporalio/common';

/** Puts messages and stack traces of failures into payloads, so that the codec encrypts them too. Bundled with workflows. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
