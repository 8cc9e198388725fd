import type { DeploymentStrategy } from '../../core/deployment/strategy.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { someOf } from '../../core/text/text.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import { CHECK_SCHEMA } from '../schemas/envelope.ts';
import type { YamlDocument } from '../yaml-document.ts';
import type { DocumentSet } from './document-set.ts';

/** Checks of rollouts that the site does not have: what nobody can ask is never well. */
export function unknownChecks(
  { groups }: DeploymentStrategy,
  yaml: YamlDocument,
  documents: DocumentSet,
): Diagnostic[] {
  const known = documents.names(CHECK_SCHEMA);
  // The missing document may be an unreadable one.
  if (documents.incomplete) return [];
  const others =
    known.length > 0
      ? `Checks of this site: ${someOf(known, 8)}.`
      : `Add a document of the schema ${CHECK_SCHEMA} with that name.`;
  return groups.flatMap(({ name: group, rollout }, at) =>
    (rollout?.checks ?? []).flatMap((check, index) =>
      known.includes(check)
        ? []
        : [
            placeProblem(yaml, {
              code: 'strategy.unknown-check',
              message: `the rollout of group '${group}' names the check '${check}', which the site does not have`,
              hint: didYouMean(check, known) ?? others,
              path: ['data', 'groups', at, 'rollout', 'checks', index],
            }),
          ],
    ),
  );
}
