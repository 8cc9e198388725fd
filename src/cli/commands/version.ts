import { readFileSync } from 'node:fs';
import type { CliCommand } from '../command.ts';
import { type OutputFlags, printOne } from '../formats/output.ts';
import type { Session } from '../session.ts';

/** Version of this program, from its package.json: next to the sources, or one folder above dist, or one above the agent’s bundle. */
export function programVersion(): string {
  for (const place of ['../../../package.json', '../../../../package.json', '../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as Record<
        string,
        string
      >;
      if (name === 'sitewright' && version) return version;
    } catch {
      // Not found: try the next path.
    }
  }
  return 'unknown';
}

/** `sitewright version`. */
export function registerVersion(program: CliCommand, session: Session): void {
  program
    .verb('version', 'Version of this program')
    .output()
    .action(async (flags: OutputFlags) => {
      const version = programVersion();
      await printOne(
        session.terminal,
        flags,
        { name: 'sitewright', version, node: process.versions.node },
        `${version}\n`,
      );
    });
}
