// Writes the folder of the Node.js that runs it: node bin/node-24.mjs .ci/node-path.mjs FILE
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

writeFileSync(process.argv[2], dirname(process.execPath));
