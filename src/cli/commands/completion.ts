import { Argument } from 'commander';
import type { CliCommand } from '../shell/command.ts';
import { SHELLS, type Shell } from '../shell/completion-scripts.ts';
import type { ValueKind } from '../shell/completion-values.ts';
import type { Session } from '../shell/session.ts';

/** `sitewright completion SHELL`: a script made from the commands themselves; it asks for names by `--values`. */
export function registerCompletion(program: CliCommand, session: Session): void {
  program
    .verb('completion', 'Print a completion script; see its first lines for how to install it')
    .example('bash')
    .addArgument(new Argument('<shell>', 'shell to write the script for').choices([...SHELLS]))
    .option('--values <kind>', 'print names of this kind instead, as the script asks')
    .option('--of <name>', 'with --values: of this site or run')
    .action(async (shell: Shell, { values, of = '' }: { readonly values?: ValueKind; readonly of?: string }) => {
      if (values === undefined)
        return session.terminal.out((await import('../shell/completion-scripts.ts')).completionScript(shell, program));
      const { completionValues } = await import('../shell/completion-values.ts');
      const names = await completionValues(await session.client(), values, of);
      session.terminal.out(names.map((name) => `${name}\n`).join(''));
    });
}
