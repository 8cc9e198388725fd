import type { CliCommand } from '../command.ts';
import type { Session } from '../session.ts';

/** `sitewright demo`: the example site on simulated machines. */
export function registerDemo(program: CliCommand, session: Session): void {
  program
    .verb('demo', 'Deploy an example site to simulated machines, show its report, and end')
    .example()
    .example('--keep')
    .option('--keep', 'leave everything running until Ctrl-C')
    .action(async (flags: { readonly keep?: boolean }) => {
      const { runDemo } = await import('../../../worker/demo.ts');
      process.exitCode = await runDemo(session.terminal, { keep: flags.keep === true });
    });
}
