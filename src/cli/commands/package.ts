import type { Command } from 'commander';
import type { PackageDiagnostic, PackageReport, PackageTree } from '../../packages/index.js';

type Format = 'table' | 'json' | 'yaml';

/** Exit status of a command that could not do its work at all; 1 means "done, and the package is bad". */
const COULD_NOT = 2;

/** `sitewright package check|create|build`: work on release and plugin packages, offline. Answers the group. */
export function registerPackage(program: Command): Command {
  const group = program.command('package').description('release and plugin packages');
  group
    .command('check')
    .description('load a package and check all of it; exit status 1 if it is invalid')
    .argument('[package]', 'folder of the package, or an archive made by `build`', '.')
    .option('-f, --format <format>', 'table, json or yaml', readFormat, 'table')
    .action((path: string, options: { format: Format }) => run(() => check(path, options.format)));
  group
    .command('create')
    .description('write a new package: a commented template that passes `check`')
    .argument('<folder>', 'new folder; its name is the name of the package')
    .option('--extension', 'a plugin that extends existing releases, instead of a release')
    .option('-f, --format <format>', 'table, json or yaml', readFormat, 'table')
    .action((path: string, options: { extension?: boolean; format: Format }) =>
      run(() => create(path, options.extension === true, options.format)),
    );
  group
    .command('build')
    .description('check a package and make one archive of it with checksums; the same files give the same bytes')
    .argument('[folder]', 'folder of the package', '.')
    .option('-o, --output <folder>', 'where to put NAME-VERSION.tar.gz', '.')
    .option('-f, --format <format>', 'table, json or yaml', readFormat, 'table')
    .action((path: string, options: { output: string; format: Format }) =>
      run(() => build(path, options.output, options.format)),
    );
  return group;
}

async function check(path: string, format: Format): Promise<void> {
  const { checkPackage } = await import('../../packages/index.js');
  const { tree, problems } = await readPackage(path);
  if (!tree) {
    await print({ verdict: 'invalid', errors: problems, warnings: [], tree: null }, format, () =>
      show(problems, undefined),
    );
    process.exitCode = 1;
    return;
  }
  const report = checkPackage(tree);
  const { verdict, errors, warnings } = report;
  await print({ verdict, errors, warnings, tree: report.tree }, format, async () => {
    const text = await show([...errors, ...warnings], tree);
    return `${text}${path}: ${verdict}\n`;
  });
  if (verdict === 'invalid') process.exitCode = 1;
}

async function create(path: string, extension: boolean, format: Format): Promise<void> {
  const { PACKAGE_NAME, packageTemplate, PackageDiskError, writePackageFolder } = await import(
    '../../packages/index.js'
  );
  const { basename, resolve } = await import('node:path');
  const name = basename(resolve(path));
  if (!PACKAGE_NAME.test(name)) {
    throw new PackageDiskError(`'${name}' is no name for a package: use letters, digits, '_' and '-'`);
  }
  const tree = packageTemplate(name, extension ? 'extension' : 'release');
  await writePackageFolder(tree, path);
  const files = [...tree.files.keys()].sort();
  await print(
    { name, folder: path, files },
    format,
    () =>
      `${path}: package created, ${files.length} files\nEdit metadata.yaml first, then: sitewright package check ${path}\n`,
  );
}

async function build(path: string, output: string, format: Format): Promise<void> {
  const { checkPackage, PackageDiskError, readPackageFolder, writePackageArchive } = await import(
    '../../packages/index.js'
  );
  const tree = await readPackageFolder(path);
  const report = checkPackage(tree);
  if (report.verdict === 'invalid') {
    const { errors, warnings } = report;
    await print({ verdict: 'invalid', errors, warnings }, format, () => show(errors, tree));
    process.exitCode = 1;
    return;
  }
  const { name, version } = nameAndVersion(report);
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new PackageDiskError(`the version '${version}' in metadata.yaml must be three numbers with dots between`);
  }
  const archive = await writePackageArchive(tree, name, version, output);
  await print(
    {
      name,
      version,
      archive: archive.path,
      sha256: archive.sha256,
      bytes: archive.bytes,
      files: archive.files,
      warnings: report.warnings,
    },
    format,
    async () =>
      `${await show(report.warnings, tree)}${archive.path}: built, ${archive.files} files, sha256 ${archive.sha256}\n`,
  );
}

/** Both are text in every valid package. */
function nameAndVersion({ tree }: PackageReport): { name: string; version: string } {
  const { name, version } = tree as { name: string; version: string };
  return { name, version };
}

async function readPackage(
  path: string,
): Promise<{ tree: PackageTree | undefined; problems: readonly PackageDiagnostic[] }> {
  const { readPackageArchive, readPackageFolder } = await import('../../packages/index.js');
  const { stat } = await import('node:fs/promises');
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? readPackageArchive(path) : { tree: await readPackageFolder(path), problems: [] };
}

/** Findings with the lines they are about. */
async function show(problems: readonly PackageDiagnostic[], tree: PackageTree | undefined): Promise<string> {
  const { formatDiagnostics } = await import('../../documents/index.js');
  const text = new TextDecoder();
  const sources = new Map<string, string>();
  for (const { file } of problems) {
    const content = tree?.files.get(file)?.content;
    if (content) sources.set(file, text.decode(content));
  }
  const shown = formatDiagnostics(problems, sources, { color: process.stdout.isTTY === true });
  return shown === '' ? '' : `${shown}\n`;
}

async function print(data: unknown, format: Format, table: () => string | Promise<string>): Promise<void> {
  if (format === 'table') process.stdout.write(await table());
  else if (format === 'json') process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
  else {
    const { dump } = await import('js-yaml');
    process.stdout.write(dump(JSON.parse(JSON.stringify(data)), { noRefs: true }));
  }
}

/** Says in one line what the disk or the arguments did not allow. */
async function run(work: () => Promise<void>): Promise<void> {
  const { PackageDiskError } = await import('../../packages/index.js');
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PackageDiskError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = COULD_NOT;
  }
}

function readFormat(value: string): Format {
  if (value === 'table' || value === 'json' || value === 'yaml') return value;
  throw new FormatError(`'${value}' is no format: table, json or yaml`);
}

/** commander prints the message of an error with this code and ends with its exit status. */
class FormatError extends Error {
  readonly code = 'commander.invalidArgument';
  readonly exitCode = 1;
}
