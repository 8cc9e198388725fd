// Checks mutated packages and converts them to what an installation stores: there must be no crash and no finding
// without a position. Result: docs/reference/packages.md, "Tests".
//   node bench/fuzz-packages.ts [count] [seed]
import './bounded.ts';
import { checkPackage, packageInstallation, packageTree } from '../src/packages/index.ts';
import { mutate, random } from '../test/unit/packages/mutations.ts';
import { contentsOf, vectors } from '../test/unit/packages/recorded-packages.ts';

const count = Number(process.argv[2] ?? 10_000);
const seed = Number(process.argv[3] ?? 1);
const next = random(seed);
const bases = [...vectors('mutated'), ...vectors('real')];
let crashes = 0;
let unplaced = 0;
const verdicts = { valid: 0, invalid: 0 };
const codes = new Map<string, number>();
let slowest = 0;
const begin = performance.now();
for (let index = 0; index < count; index++) {
  const base = bases[Math.floor(next() * bases.length)]!;
  const files = mutate(contentsOf(base), next);
  const tree = packageTree(`${base.id}#${index}`, files, base.package?.dirs ?? base.dirs_added);
  const start = performance.now();
  try {
    const report = checkPackage(tree);
    JSON.stringify(report.tree);
    // What an installation would store, and the positions of possible problems in graphs.
    const installation = packageInstallation(report);
    JSON.stringify(installation);
    for (const graph of [...(installation?.releases ?? []), ...(installation ? [installation.plugin] : [])].flatMap(
      ({ graphs }) => graphs,
    )) {
      if (graph.locate(['tasks', 0, 'id']).place.line < 1) unplaced += 1;
    }
    verdicts[report.verdict] += 1;
    for (const problem of [...report.errors, ...report.warnings]) {
      codes.set(problem.code, (codes.get(problem.code) ?? 0) + 1);
      const placed =
        problem.file !== '' && problem.line >= 1 && (problem.column ?? 0) >= 1 && typeof problem.path === 'string';
      if (!placed || problem.message === '') {
        unplaced += 1;
        console.error('no position:', tree.name, problem);
      }
    }
  } catch (error) {
    crashes += 1;
    console.error('crash:', tree.name, error);
  }
  slowest = Math.max(slowest, performance.now() - start);
}
const seconds = (performance.now() - begin) / 1000;
console.log(
  JSON.stringify({
    count,
    seed,
    crashes,
    unplaced,
    verdicts,
    codes: codes.size,
    slowestMs: Math.round(slowest),
    seconds: Math.round(seconds * 10) / 10,
  }),
);
if (process.argv[4] === 'codes')
  console.log(
    [...codes]
      .sort((a, b) => b[1] - a[1])
      .map(([code, n]) => `${code} ${n}`)
      .join('\n'),
  );
process.exitCode = crashes + unplaced === 0 ? 0 : 1;
