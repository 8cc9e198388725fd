/**
 * Documents of a site: YAML with places, schemas, checks across documents, printing of problems.
 * Everything here is data in, data out, except `readDocumentFiles`.
 */
export { canonicalJson } from './canonical-json.js';
export {
  DEFAULT_DEPLOYMENT_CONFIGURATION,
  type DeploymentConfiguration,
  resolveConfiguration,
} from './deployment-configuration.js';

export {
  formatCounts,
  formatDiagnosticLine,
  formatDiagnostics,
  type Sources,
} from './diagnostics/format-diagnostics.js';
export { type Finding, placeProblem, placeSchemaProblem } from './diagnostics/place-problem.js';
export {
  checkSchema,
  DOCUMENT_WORDS,
  type SchemaProblem,
  type SchemaWords,
  unplaced,
} from './diagnostics/schema-problems.js';
export { exportJsonSchemas } from './json-schemas.js';
export { parseStrategyData } from './parse-strategy-data.js';
export { DEFAULT_FOLDER_LIMITS, readDocumentFiles } from './read-folder.js';
export { DEFAULT_READ_LIMITS, type ReadLimits } from './reader/limits.js';
export { readPlainScalar, type ScalarValue } from './reader/yaml-scalars.js';
export { type DeploymentConfigurationData, deploymentConfigurationSchema } from './schemas/deployment-configuration.js';
export { deploymentStrategySchema, selectorSchema } from './schemas/deployment-strategy.js';
export { CONFIGURATION_SCHEMA, HOST_PROFILE_SCHEMA, NODE_SCHEMA, STRATEGY_SCHEMA } from './schemas/envelope.js';
export type { SourceFile } from './site/document-set.js';
export { type LoadedSite, loadSite, type SiteDocuments } from './site/load-site.js';
export type { ResolvedNode } from './site/resolve-nodes.js';
export { type ParseYamlOptions, parseYaml, type YamlDocument } from './yaml-document.js';
