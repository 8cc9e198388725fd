// Holds a secret in its memory and dies of a defect. Arguments: whether it keeps its memory out of the dump.
import { keepMemoryOutOfCoreDumps } from '../../src/platform/secrets/core-dumps.ts';

if (process.argv[2] === 'private') keepMemoryOutOfCoreDumps();
// Put together here, so that it is in no file and no argument.
const secret = Buffer.from(['canary', 'of', 'the', 'core', 'dump'].join('-').repeat(50));
process.stdout.write(String(secret.length), () => process.abort());
