import { programVersion } from '../../platform/installation.ts';
import type { CliCommand } from '../command.ts';
import { type OutputFlags, printOne } from '../formats/output.ts';
import type { Session } from '../session.ts';

/** `sitewright version`. */
export function registerVersion(program: CliCommand, session: Session): void {
  program
    .verb('version', 'Version of this program')
    .example()
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
