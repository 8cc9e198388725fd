/** The use case of `strategy show` without an API: pure, on documents read from disk. */
export { viewStrategy } from '../../ops/strategy.ts';
