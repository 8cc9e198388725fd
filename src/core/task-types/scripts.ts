import { amount, count, flag, path, pathFrom, pathsFrom, text } from './parameter.ts';
import { taskType } from './task-type.ts';

const scriptParameters = {
  cmd: text('the script', undefined, (value, place) => {
    if (value === '') place.wrong('cmd must not be empty', 'Give a command.');
  }),
  cwd: path('working directory', '/'),
  timeout: amount('seconds for all tries together', 300),
  retries: count('further tries', 2),
  interval: amount('seconds between tries', 2),
};

type Tries = { readonly timeout: number; readonly retries: number; readonly interval: number };

const scriptLimits = ({ timeout, retries, interval }: Tries) =>
  ({ timeoutSec: timeout, retries, intervalSec: interval, killGraceSec: 5 }) as const;

export const shell = taskType('shell', {
  over: ['agent'],
  anyScript: true,
  does: 'Runs `cmd`, a bash script, from a file, so that no further quoting is needed. Exit code 0 is success.',
  parameters: scriptParameters,
  limits: scriptLimits,
  examples: [
    {
      parameters: { cmd: 'echo "kernel $(uname -s)"\n', timeout: 60 },
      result: { outcome: 'success', exitCode: 0, output: { stdout: { tail: 'kernel Linux\n' } } },
    },
    {
      parameters: { cmd: 'echo no luck >&2; exit 3', retries: 1, interval: 0 },
      result: {
        outcome: 'failed',
        failure: { kind: 'exit', exitCode: 3 },
        tries: [{ exitCode: 3 }, { exitCode: 3 }],
      },
    },
  ],
});

export const masterShell = taskType('master_shell', {
  over: ['agent'],
  anyScript: true,
  does: 'Like `shell`, for the agent of `master`: place it there with `roles: [master]`.',
  parameters: scriptParameters,
  limits: scriptLimits,
  examples: [
    { parameters: { cmd: 'pwd', cwd: '/tmp' }, result: { outcome: 'success', output: { stdout: { tail: '/tmp\n' } } } },
  ],
});

/** Programs that only change how another one runs. */
const PREFIXES = ['nice', 'ionice', 'chrt', 'taskset', 'nohup', 'stdbuf'];

export const puppet = taskType('puppet', {
  over: ['agent'],
  noop: 'simulate',
  does: `Runs \`puppet apply --detailed-exitcodes\`. The exit code decides first: 0 means nothing to do, 2 changed; 4, 6
and 1 failed. Then the summary of this run must exist and count no failure: an interrupted run never counts as success.
The result has puppet's counts, and up to 50 names of resources that changed and that failed.`,
  parameters: {
    puppet_manifest: pathFrom('the manifest; a relative path starts at `cwd`'),
    puppet_modules: pathsFrom('folders joined by `:`; relative ones start at `cwd`', '/etc/puppet/modules'),
    cwd: path('working directory', '/'),
    timeout: amount('seconds for all tries together', 5400),
    retries: count('further tries', 2),
    succeed_retries: count('further runs after a success that must succeed as well', 0),
    puppet_start_timeout: amount("seconds to wait for a run of puppet's own agent", 10),
    puppet_start_interval: amount('seconds between checks for it', 2),
    puppet_noop_run: flag('`--noop` for this task only', false),
    debug: flag('`--debug --evaltrace`', false),
    command_prefix: text(
      `${PREFIXES.map((name) => `\`${name}\``).join(', ')}, with plain words`,
      '',
      (value, place) => {
        const words = value.split(/\s+/).filter(Boolean);
        if (words.length > 0 && !(PREFIXES.includes(words[0]!) && words.every((word) => /^[\w=.,:/+-]+$/.test(word))))
          place.wrong(
            `command_prefix must begin with one of ${PREFIXES.join(', ')} and have plain words`,
            'Write it like "nice -n 10".',
          );
      },
    ),
    raw_report: flag("true: the result names the file of puppet's report", false),
    // The reference polled another process, which might not answer.
    undefined_retries: count('accepted; there is no undefined state here', 3),
  },
  limits: ({ timeout, retries }) => ({ timeoutSec: timeout, retries }),
  examples: [
    {
      needs: 'puppet',
      parameters: { puppet_manifest: '/srv/example/site.pp', retries: 0 },
      result: { outcome: 'success', exitCode: 2, changed: true, summary: { resources: { failed: 0 } } },
    },
  ],
});
