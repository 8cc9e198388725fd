#!/usr/bin/env node
import { runCli } from './run-cli.js';
import { processTerminal } from './terminal.js';

// A reader that has seen enough (`… | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), processTerminal());
// All is said and done: what still hangs (a download nobody waits for) must not hold the process.
setTimeout(() => process.exit(), 2_000).unref();
