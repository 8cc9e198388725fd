import { isMapping } from '../../core/data/plain-value.ts';
import { DEFAULT_STRATEGY_NAME } from '../../core/deployment/strategy.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';

import { placeProblem } from '../diagnostics/place-problem.ts';
import { CONFIGURATION_SCHEMA, STRATEGY_SCHEMA } from '../schemas/envelope.ts';
import type { DocumentSet } from './document-set.ts';
import type { SiteDocument } from './site-document.ts';

const CONFIGURATION_NAME = 'deployment-configuration';

/**
 * The configuration a run of this site uses: the only one, or of several the one named
 * `deployment-configuration`. Its data may still be invalid.
 */
export function chooseConfiguration(
  documents: DocumentSet,
  required: boolean,
  report: (diagnostic: Diagnostic) => void,
): SiteDocument | undefined {
  const given = documents.of(CONFIGURATION_SCHEMA);
  const names = documents.names(CONFIGURATION_SCHEMA);
  if (names.length === 0) {
    if (required && !documents.incomplete) {
      report({
        severity: 'error',
        code: 'site.no-configuration',
        message: 'the site has no deployment configuration',
        hint: `Add a document of the schema ${CONFIGURATION_SCHEMA}; 'data: {armada: {manifest: full-site}}' gives all defaults.`,
        ...documents.anyPlace(),
      });
    }
    return undefined;
  }
  const name = names.length === 1 ? names[0] : names.find((candidate) => candidate === CONFIGURATION_NAME);
  const chosen = given.find((candidate) => candidate.name === name);
  for (const other of given) {
    if (other === chosen) continue;
    report(
      placeProblem(other.yaml, {
        severity: name === undefined ? 'error' : 'warning',
        code: name === undefined ? 'site.several-configurations' : 'site.configuration-not-used',
        message:
          name === undefined
            ? `the site has several deployment configurations (${names.join(', ')}) and none is named '${CONFIGURATION_NAME}'`
            : `the deployment configuration '${other.name}' is not used; '${name}' is`,
        hint: `Keep one, or name the one to use '${CONFIGURATION_NAME}'.`,
        path: ['metadata', 'name'],
      }),
    );
    if (name === undefined) break;
  }
  return chosen;
}

/**
 * The strategy a run of this site uses (docs/explain/design.md#deployment-groups): the one its configuration names; when it names
 * none, `deployment-strategy` if that document exists; else none: all nodes are one critical group.
 */
export function chooseStrategy<Data>(
  given: readonly SiteDocument<Data>[],
  documents: DocumentSet,
  configuration: SiteDocument | undefined,
  report: (diagnostic: Diagnostic) => void,
): SiteDocument<Data> | undefined {
  const names = documents.names(STRATEGY_SCHEMA);
  const wanted = configuration ? namedStrategy(configuration.data) : null;
  const path = ['data', 'physical_provisioner', 'deployment_strategy'];
  const near = wanted === null ? undefined : didYouMean(wanted, names);
  // The missing document may be an unreadable one, unless a typing error is more likely.
  const sure = near !== undefined || !documents.incomplete;
  if (wanted !== null && !names.includes(wanted) && configuration && sure) {
    report(
      placeProblem(configuration.yaml, {
        code: 'site.strategy-missing',
        message: `the configuration names the deployment strategy '${wanted}', but there is no such document`,
        hint: near ?? missingStrategyHint(wanted, names),
        path,
      }),
    );
  }
  const name = wanted ?? DEFAULT_STRATEGY_NAME;
  const isAllAtOnce = wanted === null && !names.includes(name);
  if (isAllAtOnce && configuration && names.length === 0 && !documents.incomplete) {
    const [base] = documents.abstractNames(STRATEGY_SCHEMA);
    report(
      placeProblem(
        configuration.yaml,
        base === undefined
          ? {
              severity: 'info',
              code: 'site.all-at-once',
              message:
                'no deployment strategy is named: all nodes are deployed together, as one critical group at 100 %',
              path,
            }
          : {
              code: 'site.strategy-not-named',
              message: `the only deployment strategy, '${base}', is abstract: all nodes would be deployed at once`,
              hint: 'Pass the rendered documents of the site, or remove the abstract strategy.',
              path,
            },
      ),
    );
  }
  for (const other of given) {
    if (other.name === name) continue;
    report(
      placeProblem(
        other.yaml,
        isAllAtOnce
          ? {
              code: 'site.strategy-not-named',
              message: `the configuration does not name the deployment strategy '${other.name}': all nodes would be deployed at once`,
              hint: `Write 'deployment_strategy: ${other.name}' under physical_provisioner of the configuration, rename it to '${name}', or remove it.`,
              path: ['metadata', 'name'],
            }
          : {
              severity: 'warning',
              code: 'site.strategy-not-used',
              message: `the deployment strategy '${other.name}' is not used`,
              hint: names.includes(name)
                ? `The strategy of this site is '${name}'.`
                : `To use it, write 'deployment_strategy: ${other.name}' under physical_provisioner of the configuration.`,
              path: ['metadata', 'name'],
            },
      ),
    );
  }
  return given.find((candidate) => candidate.name === name);
}

/** Reads the unchecked data: a mistake elsewhere in the configuration must not hide a wrong name. */
function namedStrategy(data: unknown): string | null {
  const section = isMapping(data) ? data.physical_provisioner : undefined;
  const name = isMapping(section) ? section.deployment_strategy : undefined;
  return typeof name === 'string' && name !== '' ? name : null;
}

function missingStrategyHint(wanted: string, names: readonly string[]): string {
  if (wanted === 'all-at-once') {
    return "'all-at-once' predates strategy documents: omit deployment_strategy to deploy all nodes together.";
  }
  if (names.length > 0) return `Strategies of this site: ${names.join(', ')}.`;
  return `Add a document of the schema ${STRATEGY_SCHEMA} with that name, or omit deployment_strategy to deploy all nodes together.`;
}
