// Writes docs/reference/task-types.md: `npm run docs:task-types`.
import { writeFileSync } from 'node:fs';
import { taskTypesPage } from './reference/task-types.ts';

writeFileSync(new URL('../docs/reference/task-types.md', import.meta.url), taskTypesPage());
