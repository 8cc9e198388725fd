import { type Command, Option } from 'commander';
import { CliCommand } from './command.ts';

/**
 * The commands that change something through the API and have no dry run of their own: each has `--dry-run`, with which it asks
 * what it has to know, shows its question and what it would send, and ends before its first change.
 */
export const CHANGING: ReadonlySet<string> = new Set([
  ...['create', 'delete', 'deploy', 'update', 'redeploy', 'test', 'follow', 'unfollow'].map((verb) => `site ${verb}`),
  ...['pause', 'resume', 'stop', 'cancel', 'approve', 'reject', 'retry', 'retry-task', 'skip-task'].map(
    (verb) => `run ${verb}`,
  ),
  ...['promote', 'hold', 'abort-rollout'].map((verb) => `run ${verb}`),
  ...['register', 'delete', 'maintenance on', 'maintenance off'].map((verb) => `node ${verb}`),
  ...['pause', 'resume', 'run', 'delete'].map((verb) => `schedule ${verb}`),
  'notice test',
  'check run',
  ...['upload', 'delete'].map((verb) => `graph ${verb}`),
  ...['create', 'update', 'delete', 'add-nodes', 'remove-nodes', 'move', 'stop', 'settings', 'facts', 'network'].map(
    (verb) => `cluster ${verb}`,
  ),
  'settings revert',
  ...['enable', 'disable'].map((verb) => `plugin ${verb}`),
  ...['create', 'update', 'delete'].map((verb) => `role ${verb}`),
  ...['create', 'update', 'delete', 'apply', 'assign', 'unassign'].map((verb) => `tag ${verb}`),
  ...['create', 'upload', 'update', 'delete'].map((verb) => `sequence ${verb}`),
  'history delete',
  ...['install', 'remove', 'sync'].map((verb) => `package ${verb}`),
  'worker drain',
  ...['create', 'revoke'].map((verb) => `token ${verb}`),
]);

/** `run pause` of `sitewright run pause`. */
export function pathOf(command: Command): string {
  const path: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) path.unshift(one.name());
  return path.join(' ');
}

/** Whether it is a command of `CHANGING`. */
export const isChanging = (command: Command): boolean => CHANGING.has(pathOf(command));

/** Gives each of these commands, and those with a plan of their own, their options. */
export function addDryRuns(program: Command): void {
  for (const command of program.commands) {
    addDryRuns(command);
    if (!(command instanceof CliCommand)) continue;
    const has = (option: string): boolean => command.options.some(({ long }) => long === option);
    if (isChanging(command)) command.option('--dry-run', 'show what it would do, and change nothing');
    if ((has('--dry-run') || PLANS.has(pathOf(command))) && !has('--detailed-exitcode'))
      command.addOption(
        new Option('--detailed-exitcode', 'of a dry run or plan: 0 nothing to do, 2 changes, 1 an error'),
      );
  }
}

/** Commands that only plan or compare. */
const PLANS: ReadonlySet<string> = new Set(['graph plan', 'site diff', 'settings diff']);
