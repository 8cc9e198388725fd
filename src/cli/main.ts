#!/usr/bin/env node
import { runCli } from './shell/run-cli.ts';
import { processTerminal } from './shell/terminal.ts';

// A reader that closes the pipe early (`… | head`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), processTerminal());
// The command is done: leftover work, such as an abandoned download, must not keep the process running.
setTimeout(() => process.exit(), 2_000).unref();
