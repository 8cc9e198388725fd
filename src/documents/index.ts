export { type ParsedStrategyData, parseStrategyData } from './parse-strategy-data.js';
export { type ParsedYaml, type ParseYamlOptions, type Place, parseYaml, type YamlDocument } from './yaml/parse-yaml.js';
export { PYYAML_SCHEMA, readPlainScalar } from './yaml/pyyaml-schema.js';
