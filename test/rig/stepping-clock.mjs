// Preloaded into a process (`node --import`): its wall clock is wrong by as many milliseconds as the file named by
// SITEWRIGHT_TEST_CLOCK contains at the moment. Timers, as the kernel's monotonic clock, are not touched.
import { readFileSync } from 'node:fs';

const file = process.env.SITEWRIGHT_TEST_CLOCK ?? '';
const now = () => {
  try {
    return real.now() + Number(readFileSync(file, 'utf8'));
  } catch {
    return real.now();
  }
};
const real = Date;
globalThis.Date = new Proxy(real, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
