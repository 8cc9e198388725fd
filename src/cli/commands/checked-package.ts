import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { PackageDiagnostic, PackageReport, PackageTree } from '../../packages/index.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError, usageError } from '../shell/problem.ts';

/** Checks a package, with what is wrong with its graphs, as its installation would report it. */
export async function checkedPackage(tree: PackageTree): Promise<PackageReport> {
  const [{ checkPackage, packageInstallation }, { checkPackageGraphs }] = await Promise.all([
    import('../../packages/index.ts'),
    import('../../graph/index.ts'),
  ]);
  const report = checkPackage(tree);
  const installation = packageInstallation(report);
  if (installation === undefined) return report;
  const found = checkPackageGraphs(installation);
  const placed = (all: readonly Diagnostic[]) => all as readonly PackageDiagnostic[];
  return {
    ...report,
    verdict: found.errors.length === 0 ? report.verdict : 'invalid',
    errors: [...report.errors, ...placed(found.errors)],
    warnings: [...report.warnings, ...placed(found.warnings)],
  };
}

/** Does work on packages. @throws CliError where the disk or the arguments do not allow it */
export async function onPackages<T>(work: () => Promise<T>): Promise<T> {
  const { PackageDiskError } = await import('../../packages/index.ts');
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PackageDiskError)) throw error;
    const { cause, message } = error;
    if ((cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw usageError(message);
    const hint = 'Name the folder of a package, or an archive made by `package build`.';
    throw new CliError({ code: 'file', message, hint }, EXIT.notFound);
  }
}
