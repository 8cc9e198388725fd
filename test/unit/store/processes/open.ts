// Opens the given store, which migrates it, and prints its findings or why it failed.
import { openStore, StoreError } from '../../../../src/store/index.ts';
import { readyToGo, say } from './speak.ts';

await readyToGo();
try {
  const store = await openStore(process.argv[2]!);
  const { schemaVersion, pending } = await store.status();
  await store.sites.create({ name: `by-${process.pid}` });
  await store.close();
  say({ schemaVersion, pending });
} catch (error) {
  say(error instanceof StoreError ? error.failure : String(error));
}
process.exit();
