import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openExecutions } from '../../agent/index.ts';

/** Executions without a result in the journals below a folder of agents, one per row. */
export function agentExecutions(stateDir: string) {
  if (!existsSync(stateDir)) return [];
  return readdirSync(stateDir).flatMap((site) =>
    openExecutions(join(stateDir, site)).map(({ execution, progress, isSupervised }) => ({
      site,
      node: execution.node,
      run: execution.run,
      task: execution.task,
      generation: execution.generation,
      type: execution.type,
      phase: progress?.phase ?? 'accepted',
      since: progress?.startedAt ?? null,
      supervised: isSupervised,
    })),
  );
}
