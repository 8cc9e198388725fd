import type { CliCommand } from '../shell/command.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';

/** `sitewright init …`: something small of one's own, which runs as it is on simulated machines. */
export function registerInit(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('init', 'Create a starting point: a small site, or a release with a graph');

  for (const [kind, description] of [
    ['site', 'Write the documents of a small site: four machines in two groups'],
    ['release', 'Write a small release: three roles, and a graph of five tasks'],
  ] as const) {
    group
      .verb(kind, `${description}, with comments. They run as they are on simulated machines`)
      .example(kind === 'site' ? 'dc1' : 'myrelease')
      .argument('<folder>', `a new folder; its name is that of the ${kind}`)
      .output()
      .action(async (folder: string, flags: OutputFlags) => {
        const { writeStart } = await import('./write-start.ts');
        const { name, files, next } = await writeStart(kind, folder, terminal.cwd);
        const text = [`${folder}: ${files.join(', ')}\n`, 'next:\n', ...next.map((line) => `  ${line}\n`)].join('');
        await printOne(terminal, flags, { kind, name, folder, files, next }, text);
      });
  }
}
