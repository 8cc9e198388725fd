import type { TokenOperations } from '../../ops/index.ts';
import type { CodecAuthorization } from '../../platform/codec/codec-endpoint.ts';
import { callerOf, refusalOf } from './guard.ts';

/**
 * Who may use the codec endpoint: with the same tokens as for the API, viewers may decode histories, and
 * operators, who may start runs, encode.
 */
export const codecAuthorization =
  (tokens: TokenOperations): CodecAuthorization =>
  async (headers, direction) => {
    const refusal = refusalOf(
      await callerOf({ headers }, tokens, false),
      direction === 'decode' ? 'viewer' : 'operator',
    );
    if (refusal === undefined) return undefined;
    const { code, message, hint = '' } = refusal;
    return { status: code === 'unauthenticated' ? 401 : 403, message, hint };
  };
