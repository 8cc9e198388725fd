import { describe, expect, it } from 'vitest';
import { commandNamed, createProgram } from '../../../src/cli/program.ts';
import { recordingTerminal } from './recording-terminal.ts';

const whole = await createProgram(recordingTerminal());
const names = whole.commands.map((command) => command.name());

describe('the program', () => {
  it.each(names.filter((name) => name !== 'completion'))(
    'loads %s alone, as it is in the whole program',
    async (name) => {
      const only = commandNamed(['--config', 'run', name, '--help']);
      expect(only).toBe(name);
      const program = await createProgram(recordingTerminal(), { only: only! });
      const [one, all] = [program, whole].map(({ commands }) => commands.find((command) => command.name() === name)!);
      expect(one?.helpInformation()).toBe(all?.helpInformation());
      expect(program.commands.length).toBeLessThanOrEqual(3);
    },
  );

  it.each([[[]], [['--help']], [['help', 'site']], [['sit']], [['completion', 'bash']], [['--api', 'site']]])(
    'loads every command for %j',
    (args) => expect(commandNamed(args)).toBeUndefined(),
  );
});
