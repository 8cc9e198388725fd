import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';

/** `sitewright db …`: the schema of the store. */
export function registerDb(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('db', 'The store: state of its schema, migrations');

  group
    .verb('status', 'Location of the store, and whether its schema is up to date; exit code 4 if it is not')
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const { settings } = await session.settings();
      const { storeStatus } = await import('../../../worker/database.ts');
      const status = await storeStatus(settings);
      const { pending, applied } = status;
      const lines = [
        `${status.dialect} at ${status.location}`,
        `schema ${status.schemaVersion} of ${status.knownVersion}`,
        ...applied.map(({ version, name, appliedAt }) => `  ${version} ${name}, applied ${appliedAt}`),
        ...pending.map(
          ({ version, name, breaking }) =>
            `  ${version} ${name}, pending${breaking ? ': stop all processes first' : ''}`,
        ),
        pending.length === 0 ? 'up to date' : `${pending.length} pending: run 'sitewright db migrate'`,
      ];
      await printOne(terminal, flags, status, `${lines.join('\n')}\n`);
      if (pending.length > 0) process.exitCode = EXIT.conflict;
    });

  group
    .verb('migrate', 'Bring the schema of the store up to date; safe to run concurrently')
    .example()
    .option('--non-breaking', 'change nothing if that would break running processes of an earlier release')
    .output()
    .action(async ({ nonBreaking = false, ...flags }: OutputFlags & { readonly nonBreaking?: boolean }) => {
      const { settings } = await session.settings();
      const { migrateStore } = await import('../../../worker/database.ts');
      const applied = await migrateStore(settings, nonBreaking);
      const text =
        applied.map(({ version, name }) => `applied ${version} ${name}\n`).join('') ||
        'nothing to do: the schema is up to date\n';
      await printOne(terminal, flags, { applied }, text);
    });
}
