import { counted } from '../../core/text/text.ts';
import type { PackageDiagnostic, PackageReport, PackageTree } from '../../packages/index.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import type { Terminal } from '../shell/terminal.ts';
import { checkedPackage, onPackages } from './checked-package.ts';

/** `sitewright package check|create|build`: work on release and plugin packages, offline. Returns the group. */
export function registerPackage(program: CliCommand, { terminal }: Session): CliCommand {
  const group = program.verb('package', 'release and plugin packages');
  group
    .verb('check', 'load a package and check all of it; exit status 1 if it is invalid')
    .example('myrelease/')
    .argument('[package]', 'folder of the package, or an archive made by `build`', '.')
    .output()
    .action((path: string, flags: OutputFlags) => onPackages(() => check(terminal, flags, path)));
  group
    .verb('create', 'write a new package: a commented template that passes `check`')
    .example('myrelease/')
    .argument('<folder>', 'new folder; its name is the name of the package')
    .option('--extension', 'a plugin that extends existing releases, instead of a release')
    .output()
    .action((path: string, { extension = false, ...flags }: OutputFlags & { readonly extension?: boolean }) =>
      onPackages(() => create(terminal, flags, path, extension)),
    );
  group
    .verb('build', 'check a package and archive it with checksums; the same files give the same bytes')
    .example('myrelease/ --output dist/')
    .argument('[folder]', 'folder of the package', '.')
    .option('-o, --output <folder>', 'where to put NAME-VERSION.tar.gz', '.')
    .option('--run-hook', 'first run the executable pre_build_hook of the package, in its folder')
    .option('--index', 'first index its repositories: dpkg-scanpackages for .deb, createrepo_c for .rpm')
    .output()
    .action((path: string, { output, runHook = false, index = false, ...flags }: BuildFlags) =>
      onPackages(() => build(terminal, flags, path, { output, runHook, index })),
    );
  return group;
}

async function check(terminal: Terminal, flags: OutputFlags, path: string): Promise<void> {
  const { tree, problems } = await readPackage(path);
  if (!tree) {
    const answer = { verdict: 'invalid', errors: problems, warnings: [], tree: null };
    await printOne(terminal, flags, answer, await shown(terminal, problems, undefined));
    process.exitCode = EXIT.failed;
    return;
  }
  const report = await checkedPackage(tree);
  const { verdict, errors, warnings } = report;
  const text = `${await shown(terminal, [...errors, ...warnings], tree)}${path}: ${verdict}\n`;
  await printOne(terminal, flags, { verdict, errors, warnings, tree: report.tree }, text);
  if (verdict === 'invalid') process.exitCode = EXIT.failed;
}

async function create(terminal: Terminal, flags: OutputFlags, path: string, extension: boolean): Promise<void> {
  const { PACKAGE_NAME, packageTemplate, PackageDiskError, writePackageFolder } = await import(
    '../../packages/index.ts'
  );
  const { basename, resolve } = await import('node:path');
  const name = basename(resolve(path));
  if (!PACKAGE_NAME.test(name)) {
    throw new PackageDiskError(`'${name}' is not a name for a package: use letters, digits, '_' and '-'`);
  }
  const tree = packageTemplate(name, extension ? 'extension' : 'release');
  await writePackageFolder(tree, path);
  const files = [...tree.files.keys()].sort();
  await printOne(
    terminal,
    flags,
    { name, folder: path, files },
    `${path}: package created, ${counted(files.length, 'file')}\nEdit metadata.yaml first, then: sitewright package check ${path}\n`,
  );
}

interface BuildFlags extends OutputFlags {
  readonly output: string;
  readonly runHook?: boolean;
  readonly index?: boolean;
}

async function build(
  terminal: Terminal,
  flags: OutputFlags,
  path: string,
  { output, runHook, index }: Required<Pick<BuildFlags, 'output' | 'runHook' | 'index'>>,
): Promise<void> {
  const packages = await import('../../packages/index.ts');
  const { PackageDiskError, readPackageFolder, writePackageArchive } = packages;
  if (runHook) {
    if (!(await packages.hasPreBuildHook(path))) throw new PackageDiskError(`${path} has no executable pre_build_hook`);
    await packages.runPreBuildHook(path);
  }
  let tree = await readPackageFolder(path);
  let report = await checkedPackage(tree);
  const repositories = report.verdict === 'valid' ? packages.repositoriesOf(report.tree) : [];
  if (index && (await packages.indexRepositories(path, repositories)).length > 0) {
    tree = await readPackageFolder(path);
    report = await checkedPackage(tree);
  }
  if (report.verdict === 'invalid') {
    const { errors, warnings } = report;
    await printOne(terminal, flags, { verdict: 'invalid', errors, warnings }, await shown(terminal, errors, tree));
    process.exitCode = EXIT.failed;
    return;
  }
  const { name, version } = nameAndVersion(report);
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new PackageDiskError(`the version '${version}' in metadata.yaml must be three numbers separated by dots`);
  }
  const archive = await writePackageArchive(tree, name, version, output);
  for (const repository of await packages.repositoriesWithoutIndex(path, repositories))
    terminal.err(`${repository} has packages without an index, so nodes cannot install them. Build with --index.\n`);
  if (!runHook && (await packages.hasPreBuildHook(path)))
    terminal.err('pre_build_hook was not run. To run it before the build, use --run-hook.\n');
  await printOne(
    terminal,
    flags,
    {
      name,
      version,
      archive: archive.path,
      sha256: archive.sha256,
      bytes: archive.bytes,
      files: archive.files,
      warnings: report.warnings,
    },
    `${await shown(terminal, report.warnings, tree)}${archive.path}: built, ${archive.files} files, sha256 ${archive.sha256}\n`,
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
  const { readPackageArchive, readPackageFolder } = await import('../../packages/index.ts');
  const { stat } = await import('node:fs/promises');
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? readPackageArchive(path) : { tree: await readPackageFolder(path), problems: [] };
}

/** Findings with the lines they are about. */
async function shown(
  { color, all = false }: Terminal,
  problems: readonly PackageDiagnostic[],
  tree: PackageTree | undefined,
): Promise<string> {
  const { formatDiagnostics } = await import('../../documents/index.ts');
  const text = new TextDecoder();
  const sources = new Map<string, string>();
  for (const { file } of problems) {
    const content = tree?.files.get(file)?.content;
    if (content) sources.set(file, text.decode(content));
  }
  const findings = formatDiagnostics(problems, sources, { color, all });
  return findings === '' ? '' : `${findings}\n`;
}
