// Runs a command that must not outlive the process that started it, however that process ends.
//   node run-with-parent.ts GRACE_MS COMMAND [ARG...]
// The parent holds the other end of our standard input and never writes to it. The kernel closes it when the parent
// ends, even by SIGKILL; then the command gets SIGTERM and, GRACE_MS later, SIGKILL. The parent can read
// `started PID`, then `ended CODE SIGNAL`, from standard output.
import { spawn } from 'node:child_process';

const [graceMs, command, ...args] = process.argv.slice(2);
if (graceMs === undefined || command === undefined)
  throw new Error('usage: run-with-parent.ts GRACE_MS COMMAND [ARG...]');

// Signals to the whole process group (Ctrl-C) are handled by the parent.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('SIGTERM', stop);
// The parent may have ended already, and then no one reads the output.
process.stdout.on('error', () => {});

const child = spawn(command, args, { stdio: ['ignore', 2, 2] });
child.on('error', (error) => {
  process.stdout.write(`failed ${error.message}\n`);
  process.exitCode = 127;
  process.stdin.destroy();
});
child.on('spawn', () => process.stdout.write(`started ${child.pid}\n`));
child.on('exit', (code, signal) => {
  process.stdout.write(`ended ${code ?? '-'} ${signal ?? '-'}\n`);
  process.exitCode = code ?? 1;
  process.stdin.destroy();
  clearTimeout(lastResort);
});

let lastResort: NodeJS.Timeout | undefined;
function stop(): void {
  if (lastResort !== undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  lastResort = setTimeout(() => child.kill('SIGKILL'), Number(graceMs));
}
process.stdin.on('end', stop).on('error', stop).resume();
