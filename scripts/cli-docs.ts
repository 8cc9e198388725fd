// Writes docs/reference/cli.md: `npm run docs:cli`.
import { writeFileSync } from 'node:fs';
import { createProgram } from '../src/cli/program.ts';
import { cliReference } from '../src/cli/reference-page.ts';
import { processTerminal } from '../src/cli/terminal.ts';

const program = await createProgram(processTerminal());
writeFileSync(new URL('../docs/reference/cli.md', import.meta.url), cliReference(program));
