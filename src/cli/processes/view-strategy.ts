/** The use case that `strategy show` needs without an API: pure, over documents read from disk. */
export { viewStrategy } from '../../ops/strategy.js';
