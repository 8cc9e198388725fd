// Opens the given store where one package cannot be loaded, and prints the result.
import { registerHooks } from 'node:module';
import { say } from './speak.ts';

const [absent, url] = process.argv.slice(2);
registerHooks({
  resolve(name, context, next) {
    if (name === absent) throw new Error(`not here: ${name}`);
    return next(name, context);
  },
});
const { openStore, StoreError } = await import('../../../../src/store/index.ts');
try {
  const store = await openStore(url!);
  say({ opened: (await store.status()).dialect });
  await store.close();
} catch (error) {
  say(error instanceof StoreError ? error.failure : String(error));
}
process.exit();
