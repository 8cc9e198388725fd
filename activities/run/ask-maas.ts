import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { SiteActivities } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { translated } from '../failures.ts';

/** A person waits for the answer, and a cancellation of the steps that do not come to an end takes as long again. */
const PATIENCE_MS = 4_000;
const AGAIN_AFTER_MS = 500;

/** Any answer counts, to whichever request: a MAAS under load may have others before this one. */
export const askMaasActivity = ({ maas }: Pick<ActivityDependencies, 'maas'>): Pick<SiteActivities, 'ask_maas'> => ({
  ask_maas: () =>
    translated(async () => {
      const { client } = maas();
      const { cancellationSignal } = Context.current();
      const asked = Date.now();
      const signal = AbortSignal.any([cancellationSignal, AbortSignal.timeout(PATIENCE_MS)]);
      const answers = () => (client.lastAnswerAt ?? 0) >= asked;
      while (!answers() && !signal.aborted) {
        await client.version(signal).catch(() => undefined);
        if (!answers()) await sleep(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined);
      }
      return { since: answers() ? null : new Date(client.silentSince ?? asked).toISOString() };
    }),
});
