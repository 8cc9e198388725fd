import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that wait most come first, and unlisted ones, which are short, last: no processor is idle at the end. */
const FIRST = ['e2e', 'ui', 'workflow', 'api', 'replay'].reverse();

/**
 * Approximate seconds of the longest files: of processor time, and in e2e of elapsed time, because most of it is
 * spent waiting.
 */
const durations: ReadonlyMap<string, number> = new Map(
  Object.entries(JSON.parse(readFileSync(new URL('./durations.json', import.meta.url), 'utf8'))),
);

/** The order of the test files, also in a clone where none has run yet. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    for (const file of durations.keys())
      if (!existsSync(`${root}/${file}`)) throw new Error(`test/durations.json names ${file}, which is not there`);
    const path = (file: TestSpecification) => relative(root, file.moduleId);
    const rank = (file: TestSpecification) => FIRST.indexOf(path(file).split('/')[1] ?? '');
    const seconds = (file: TestSpecification) => durations.get(path(file)) ?? 0;
    // Vitest's own order, from its last runs here, stays among the files without a record.
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rank(b) - rank(a) || seconds(b) - seconds(a));
  }
}
