/** Graph types with two names: the specification's, and that of Fuel's own library. */
const SYNONYMS = [
  ['provisioning', 'provision'],
  ['network_verification', 'net-verification'],
] as const;

/** The type itself and its other name: of an owner that has graphs of both, the first counts. */
export function namesOfType(type: string): readonly string[] {
  const other = SYNONYMS.flatMap(([a, b]) => (type === a ? [b] : type === b ? [a] : []));
  return [type, ...other];
}
