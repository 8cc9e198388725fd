import type { MaasClient } from './client.ts';
import type { ResultType } from './diagnostic-calls.ts';
import type { FailedScript } from './machine-outcome.ts';

/** MAAS' script states that are not failures: pending, running, passed, installing, skipped, … */
const harmless = new Set([0, 1, 2, 7, 9, 10, 11, 12]);

const maxScripts = 10;
const maxLines = 10;
const longestLine = 300;

/** The failed scripts of the latest commissioning or testing, with the end of their output. */
export async function failedScripts(
  client: MaasClient,
  systemId: string,
  type: ResultType,
  signal?: AbortSignal,
): Promise<readonly FailedScript[]> {
  const results = await client.diagnostics.scriptResults(systemId, type, { includeOutput: true }, signal);
  return results
    .filter((result) => !harmless.has(result.status) || (result.exitStatus ?? 0) !== 0)
    .slice(0, maxScripts)
    .map((result) => ({
      name: result.name,
      statusName: result.statusName,
      exitStatus: result.exitStatus,
      lastLines: result.output
        .split('\n')
        .map((line) => line.trimEnd().slice(0, longestLine))
        .filter((line) => line !== '')
        .slice(-maxLines),
    }));
}
