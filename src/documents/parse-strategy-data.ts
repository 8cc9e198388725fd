import type { DeploymentStrategy } from '../core/deployment/strategy.ts';
import { checkSchema, type SchemaProblem } from './diagnostics/schema-problems.ts';
import { deploymentStrategySchema } from './schemas/deployment-strategy.ts';

type ParsedStrategyData =
  | { readonly ok: true; readonly strategy: DeploymentStrategy; readonly warnings: readonly SchemaProblem[] }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/**
 * Checks the shape of a strategy that comes as plain data (JSON of the API or of the simulator's
 * input), not as a document: `data` of shipyard/DeploymentStrategy/v1. The relations of
 * groups (cycles, unknown dependencies, labels) is for `checkStrategy` of src/core/deployment.
 */
export function parseStrategyData(data: unknown): ParsedStrategyData {
  const result = checkSchema(deploymentStrategySchema, data, { warnUnknownKeys: true });
  if (!result.ok) return { ok: false, problems: result.problems.filter((problem) => problem.severity === 'error') };
  return { ok: true, strategy: result.value as DeploymentStrategy, warnings: result.warnings };
}
