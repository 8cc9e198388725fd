import type { CliCommand } from '../command.ts';
import type { Session } from '../session.ts';

/** How long a user pauses before the checks run. */
const PAUSE_MS = 200;

/** `sitewright language-server`: the offline checks for editors, on standard input and output. */
export function registerLanguageServer(program: CliCommand, session: Session): void {
  const { terminal } = session;
  program
    .verb(
      'language-server',
      'Show an editor the problems of documents and packages while they are written, across their files',
    )
    .example('', 'an editor starts it, and speaks the Language Server Protocol on standard input and output')
    .option('--stdio', 'as without it: editors add it')
    .action(async () => {
      const [{ FramedReader, framed }, { LanguageServer }] = await Promise.all([
        import('../language-server/framed-messages.ts'),
        import('../language-server/server.ts'),
      ]);
      const server = new LanguageServer(
        (message) => terminal.out(framed(message)),
        (work) => {
          const timer = setTimeout(work, PAUSE_MS);
          return () => clearTimeout(timer);
        },
      );
      const reader = new FramedReader();
      for await (const bytes of process.stdin) {
        for (const message of reader.read(bytes as Buffer)) server.take(message);
        if (server.isEnded) break;
      }
    });
}
