// Imported first by each bench: whatever happens in it, it ends with its children on SIGTERM and after a time, by `timeout` of coreutils,
// which this process becomes. A handler in a bench would not run while it computes, and Temporal's SDK catches signals.
// The time is half an hour beside what `--seconds` asks for; SITEWRIGHT_BENCH_LIMIT=2h is another.
const NAME = 'SITEWRIGHT_BENCH_RUNS';

if (process.env[NAME] === undefined && process.execve !== undefined) {
  const asked = Number(/ --seconds[ =](\d+)/.exec(process.argv.join(' '))?.[1] ?? 0);
  const limit = process.env.SITEWRIGHT_BENCH_LIMIT ?? `${asked + 1_800}s`;
  const bench = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  // Found by the shell's PATH.
  const args = ['env', 'timeout', '--verbose', '--kill-after=5', limit, ...bench];
  process.execve('/usr/bin/env', args, { ...process.env, [NAME]: '1' });
}
