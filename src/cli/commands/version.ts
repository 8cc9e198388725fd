import { programVersion } from '../../platform/installation.ts';
import type { CliCommand } from '../shell/command.ts';
import type { Session } from '../shell/session.ts';

/** `sitewright version`. */
export function registerVersion(program: CliCommand, session: Session): void {
  program
    .verb('version', 'Version of this program')
    .example()
    .prints(session, async () => ({ name: 'sitewright', version: programVersion(), node: process.versions.node }), {
      text: ({ version }) => `${version}\n`,
    });
}
