// Writes docs/reference/cli.md: `npm run docs:cli`.
import { writeFileSync } from 'node:fs';
import { createProgram } from '../src/cli/program.ts';
import { processTerminal } from '../src/cli/shell/terminal.ts';
import { cliReference } from './reference/cli.ts';

const program = await createProgram(processTerminal());
writeFileSync(new URL('../docs/reference/cli.md', import.meta.url), cliReference(program));
