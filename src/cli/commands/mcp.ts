import type { CliCommand } from '../shell/command.ts';
import type { Session } from '../shell/session.ts';

/** `sitewright mcp`: the API for a language model, by the Model Context Protocol on standard input and output. */
export function registerMcp(program: CliCommand, session: Session): void {
  const { terminal } = session;
  program
    .verb('mcp', 'Serve the API to a language model, by the Model Context Protocol on standard input and output')
    .example('', 'a model reads, and changes nothing')
    .example('--allow-changes', 'a model also makes changes, each by a plan that it has shown')
    .option('--allow-changes', 'changes, too: each only with the digest of a plan that was just shown')
    .action(async ({ allowChanges = false }: { readonly allowChanges?: boolean }) => {
      const [{ McpServer }, { createInterface }] = await Promise.all([
        import('../mcp/server.ts'),
        import('node:readline'),
      ]);
      const server = new McpServer({ client: () => session.client(), allowChanges, now: () => terminal.now() });
      const open = new Set<Promise<void>>();
      // A request does not wait for the one before it.
      for await (const line of createInterface({ input: process.stdin })) {
        if (line.trim() === '') continue;
        const done = server
          .answer(line)
          .then((said) => (said === undefined ? undefined : terminal.outAll(`${said}\n`)))
          .finally(() => open.delete(done));
        open.add(done);
      }
      await Promise.all(open);
    });
}
