export { lazily } from '../src/cli/starts-process.ts';
