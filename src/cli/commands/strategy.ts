import { existsSync } from 'node:fs';
import type { Strategy } from '../../core/contracts/strategy.ts';
import type { CliCommand } from '../shell/command.ts';
import { readDocuments } from '../shell/document-files.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { CliError } from '../shell/problem.ts';
import { readInput } from '../shell/read-input.ts';
import type { Session } from '../shell/session.ts';
import { formatFindings } from '../views/findings.ts';

interface ShowFlags extends OutputFlags {
  readonly dot?: boolean;
  readonly json?: boolean;
  readonly revision: string;
}

/** `sitewright strategy …`: deployment groups, offline. */
export function registerStrategy(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('strategy', 'Deployment groups: their nodes, and simulations');

  group
    .verb('simulate', 'Simulate strategies with scripted outcomes; prints one line of JSON for each case')
    .example('--input cases.jsonl')
    .requiredOption('--input <file>', 'one case as JSON, a list, or JSON Lines; - reads standard input')
    .action(async ({ input }: { readonly input: string }) => {
      const text = await readInput(input);
      const { simulateCases } = await import('./strategy-cases.ts');
      const { results, unreadable } = simulateCases(text);
      for (const result of results) terminal.out(`${JSON.stringify(result)}\n`);
      if (unreadable > 0) process.exitCode = EXIT.invalid;
    });

  group
    .verb('show', 'The groups of a site, or of documents on disk: order, nodes, what must succeed, warnings')
    .example('documents/')
    .example('dc1 --revision 3')
    .argument('<source...>', 'name of a site, or YAML files or folders')
    .option('--revision <revision>', 'of a site: number, hash, latest or last-good', 'latest')
    .option('--dot', 'print a Graphviz drawing')
    .option('--json', 'the same as -f json')
    .output()
    .action(async (sources: readonly string[], flags: ShowFlags) => {
      const strategy = await strategyOf(session, sources, flags.revision);
      const { strategyDot, strategyText } = await import('../views/strategy.ts');
      if (flags.dot) return terminal.out(strategyDot(strategy));
      const output = flags.json ? { ...flags, format: 'json' as const } : flags;
      await printOne(terminal, output, strategy, (color) => strategyText(strategy, color));
    });
}

async function strategyOf(session: Session, sources: readonly string[], revision: string): Promise<Strategy> {
  const [first = ''] = sources;
  // A name that no site can have means a file.
  const isSite =
    sources.length === 1 && !existsSync(first) && /^[a-z0-9][a-z0-9._-]*$/.test(first) && !/\.ya?ml$/.test(first);
  if (isSite) return (await session.client()).sites.strategy(first, revision);
  const files = await readDocuments(sources);
  const { loadSite } = await import('../../documents/site/load-site.ts');
  const { site, diagnostics } = loadSite(files, { configuration: 'optional' });
  if (!site)
    throw new CliError(
      { code: 'invalid', message: 'the documents are not valid', errors: diagnostics, hint: 'Correct them first.' },
      EXIT.invalid,
    );
  session.terminal.err(
    await formatFindings(
      diagnostics.filter(({ code }) => !code.startsWith('strategy.')),
      files,
      { ...session.terminal, color: false },
    ),
  );
  const { viewStrategy } = await import('../../ops/strategy.ts');
  return viewStrategy(site);
}
