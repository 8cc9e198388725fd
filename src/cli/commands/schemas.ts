import type { Command } from 'commander';
import type { Session } from '../session.js';

/** `sitewright schemas export`. */
export function registerSchemas(program: Command, session: Session): void {
  const { terminal } = session;
  program
    .command('schemas')
    .description('JSON Schemas of the documents, for editors')
    .command('export')
    .description('Write the JSON Schemas into a folder, or print them all as one JSON object')
    .option('-o, --output <folder>', 'folder to write them to; it is made')
    .action(async ({ output }: { readonly output?: string }) => {
      const { exportJsonSchemas } = await import('../../documents/index.js');
      const schemas = exportJsonSchemas();
      if (output === undefined) return terminal.out(`${JSON.stringify(schemas, null, 2)}\n`);
      const [{ mkdir, writeFile }, { join }] = await Promise.all([import('node:fs/promises'), import('node:path')]);
      await mkdir(output, { recursive: true });
      for (const [file, schema] of Object.entries(schemas)) {
        await writeFile(join(output, file), `${JSON.stringify(schema, null, 2)}\n`);
        terminal.out(`${join(output, file)}\n`);
      }
    });
}
