import type { CliCommand } from '../shell/command.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';

/** `sitewright schemas export`. */
export function registerSchemas(program: CliCommand, session: Session): void {
  const { terminal } = session;
  program
    .verb('schemas', 'JSON Schemas of the documents, for editors')
    .verb('export', 'Write the JSON Schemas into a folder, or print them all as one JSON object')
    .example('--output schemas/')
    .option('-o, --output <folder>', 'folder for the files; created if missing')
    .output()
    .action(async ({ output, ...flags }: OutputFlags & { readonly output?: string }) => {
      const { exportJsonSchemas } = await import('../../documents/index.ts');
      const schemas = exportJsonSchemas();
      if (output === undefined) return printOne(terminal, flags, schemas, `${JSON.stringify(schemas, null, 2)}\n`);
      const [{ mkdir, writeFile }, { join }] = await Promise.all([import('node:fs/promises'), import('node:path')]);
      await mkdir(output, { recursive: true });
      for (const [file, schema] of Object.entries(schemas)) {
        await writeFile(join(output, file), `${JSON.stringify(schema, null, 2)}\n`);
      }
      const files = Object.keys(schemas).map((file) => join(output, file));
      await printOne(terminal, flags, { files }, `${files.join('\n')}\n`);
    });
}
