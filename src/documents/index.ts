/**
 * Documents of a site: YAML with places, schemas, checks across documents, printing of problems.
 * Everything here is data in, data out, except `readDocumentFiles`.
 */
export { canonicalJson } from './canonical-json.ts';
export {
  DEFAULT_DEPLOYMENT_CONFIGURATION,
  type DeploymentConfiguration,
  resolveConfiguration,
} from './deployment-configuration.ts';

export {
  formatCounts,
  formatDiagnosticLine,
  formatDiagnostics,
  type Sources,
} from './diagnostics/format-diagnostics.ts';
export { type Finding, placeProblem, placeSchemaProblem } from './diagnostics/place-problem.ts';
export {
  checkSchema,
  DOCUMENT_WORDS,
  type SchemaProblem,
  type SchemaWords,
  unplaced,
} from './diagnostics/schema-problems.ts';
export { exportJsonSchemas } from './json-schemas.ts';
export { parseStrategyData } from './parse-strategy-data.ts';
export { DEFAULT_FOLDER_LIMITS, readDocumentFiles } from './read-folder.ts';
export { DEFAULT_READ_LIMITS, type ReadLimits } from './reader/limits.ts';
export { readPlainScalar, type ScalarValue } from './reader/yaml-scalars.ts';
export { packageChecksSchema } from './schemas/check.ts';
export { type DeploymentConfigurationData, deploymentConfigurationSchema } from './schemas/deployment-configuration.ts';
export { deploymentStrategySchema } from './schemas/deployment-strategy.ts';
export { CONFIGURATION_SCHEMA, HOST_PROFILE_SCHEMA, NODE_SCHEMA, STRATEGY_SCHEMA } from './schemas/envelope.ts';
export { assumedHardware } from './site/assumed-hardware.ts';
export { type LoadedSite, loadSite, type ResolvedSite } from './site/load-site.ts';
export { type RenderedSite, renderSite } from './site/render-site.ts';
export type { ResolvedNode } from './site/resolve-nodes.ts';
export type { SourceFile } from './site/site-texts.ts';
export { type ParseYamlOptions, parseYaml, type YamlDocument } from './yaml-document.ts';
