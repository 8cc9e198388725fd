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

/** What a graph does with nodes, by its type. All types of users' own `deploy`. */
export type GraphAction = 'delete' | 'provision' | 'verify' | 'deploy';

export function actionOf(type: string): GraphAction {
  const names = namesOfType(type);
  if (names.includes('deletion')) return 'delete';
  if (names.includes('provisioning')) return 'provision';
  return names.includes('network_verification') ? 'verify' : 'deploy';
}
