import { expect, it } from 'vitest';
import { userOf } from '../../../src/cli/shell/session.ts';
import { processTerminal } from '../../../src/cli/shell/terminal.ts';
import { recordingTerminal } from './recording-terminal.ts';

const whoIs = (env: NodeJS.ProcessEnv, login?: string) =>
  userOf({ ...recordingTerminal({ env }), loginName: () => login });

it.each([
  ['the variable of the shell', { USER: 'ann', LOGNAME: 'bob' }, 'root', 'ann'],
  ['the system, where no variable says it (cron, a container)', {}, 'root', 'root'],
  ['none, where the system has no name for a number', {}, undefined, undefined],
  ['none, when no header can carry the name', { USER: 'jörg' }, 'root', undefined],
])('the actor is found: %s', (_from, env, login, user) => expect(whoIs(env, login)).toBe(user));

it('a process has a login name', () => expect(processTerminal().loginName?.()).toMatch(/./));
