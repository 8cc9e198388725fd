import type { CliCommand } from '../command.ts';
import type { Session } from '../session.ts';

/** `sitewright config show`. */
export function registerConfig(program: CliCommand, session: Session): void {
  const { terminal } = session;
  program
    .verb('config', 'Settings')
    .verb('show', 'Every setting, its value and where it comes from; secrets are not shown')
    .example('-f json')
    .prints(
      session,
      async () => {
        const loaded = await session.settings();
        const { showSettings } = await import('../../platform/settings/show-settings.ts');
        for (const { message, hint } of loaded.warnings)
          terminal.err(`warning: ${message}${hint === undefined ? '' : `. ${hint}`}\n`);
        return showSettings(loaded).map(({ path, value, origin }) => ({ setting: path, value, origin }));
      },
      { columns: ['setting', 'value', 'origin'] },
    );
}
