import { Context } from '@temporalio/activity';
import type { SiteActivities } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { translated } from '../failures.ts';

/** The answer has those of 250 nodes. */
const LONGEST_ERROR = 300;

/** Only Temporal has the errors of attempts that it repeats: neither the workflow nor its history gets them. */
export const lastErrorsActivity = ({
  execution,
}: Pick<ActivityDependencies, 'execution'>): Pick<SiteActivities, 'last_errors'> => ({
  last_errors: ({ activities: wanted }) =>
    translated(async () => {
      const { workflowExecution } = Context.current().info;
      if (workflowExecution === undefined) return {};
      const found = await execution(workflowExecution.workflowId, workflowExecution.runId);
      return Object.fromEntries(
        Object.entries(found?.errors ?? {}).flatMap(([id, error]) =>
          wanted.includes(id) ? [[id, error.slice(0, LONGEST_ERROR)]] : [],
        ),
      );
    }),
});
