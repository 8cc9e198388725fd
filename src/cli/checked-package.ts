import type { Diagnostic } from '../core/problems/diagnostic.ts';
import type { PackageDiagnostic, PackageReport, PackageTree } from '../packages/index.ts';

/** Checks a package, with what is wrong with its graphs, as its installation would report it. */
export async function checkedPackage(tree: PackageTree): Promise<PackageReport> {
  const [{ checkPackage, packageInstallation }, { checkPackageGraphs }] = await Promise.all([
    import('../packages/index.ts'),
    import('../graph/index.ts'),
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
