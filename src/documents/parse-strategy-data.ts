import { z } from 'zod';
import { type DeploymentStrategy, parseLabelEntry, type Selector } from '../core/deployment/index.js';
import { checkSchema, type SchemaProblem } from './diagnostics/schema-problems.js';
import { deploymentStrategySchema, selectorSchema } from './schemas/deployment-strategy.js';

type ParsedStrategyData =
  | { readonly ok: true; readonly strategy: DeploymentStrategy; readonly warnings: readonly SchemaProblem[] }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/**
 * Checks the shape of a strategy that comes as plain data (JSON of the API or of the simulator's
 * input), not as a document: `data` of shipyard/DeploymentStrategy/v1. What the groups mean
 * together (cycles, unknown dependencies, labels) is for `checkStrategy` of src/core/deployment.
 */
export function parseStrategyData(data: unknown): ParsedStrategyData {
  const result = checkSchema(deploymentStrategySchema, data, { warnUnknownKeys: true });
  if (!result.ok) return { ok: false, problems: result.problems.filter((problem) => problem.severity === 'error') };
  return { ok: true, strategy: result.value as DeploymentStrategy, warnings: result.warnings };
}

type ParsedSelectors =
  | { readonly ok: true; readonly selectors: readonly Selector[] }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Checks selectors that come as plain data (node selection of the API) like those of a group, labels included. */
export function parseSelectors(data: unknown): ParsedSelectors {
  const result = checkSchema(z.array(selectorSchema), data, { at: ['selectors'] });
  if (!result.ok) return result;
  const selectors = result.value as Selector[];
  const problems = selectors.flatMap(({ node_labels = [] }, s) =>
    node_labels.flatMap((entry, l): SchemaProblem[] => {
      const parsed = parseLabelEntry(entry);
      if (parsed.ok) return [];
      const path = ['selectors', s, 'node_labels', l];
      return [
        {
          severity: 'error',
          code: 'document.wrong-value',
          message: parsed.problem,
          path,
          part: 'value',
          kind: 'wrong-value',
          found: entry,
        },
      ];
    }),
  );
  return problems.length > 0 ? { ok: false, problems } : { ok: true, selectors };
}
