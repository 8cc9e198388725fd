import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** What one run of tests cost, as JSON for people and scripts: `node_modules/.cache/sitewright/tests.json`, or SITEWRIGHT_MEASURES. */
export interface Measures {
  readonly startedAt: string;
  readonly seconds: number;
  /** Of all processes, with shared servers and browsers; `scripts/test.ts` adds it, as it sees them end. */
  readonly processorSeconds?: number;
  readonly load: { readonly processors: number; readonly before: number; readonly after: number };
  readonly suites: Readonly<Record<string, Cost>>;
  readonly files: Readonly<Record<string, Cost>>;
}

interface Cost {
  readonly tests: number;
  readonly failed: number;
  /** Elapsed; files run side by side, so those of a suite add up to more than it took. */
  readonly seconds: number;
  /** Without what outlives a file: a shared server or browser, loading of modules in a process that has them. */
  readonly processorSeconds: number;
}

/** Ticks of the kernel are hundredths of a second on every Linux that Node.js runs on. */
const TICKS_A_SECOND = 100;

/** What programs cost that this process started and saw end, with theirs; 0 where there is no /proc. */
export function secondsOfEndedPrograms(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND;
  } catch {
    return 0;
  }
}

const DEAREST = 10;
export const MEASURES = 'node_modules/.cache/sitewright/tests.json';

/** Writes what each file and suite of a run cost, and prints the dearest files. */
export default class MeasuresReporter implements Reporter {
  #root = '';
  readonly #startedAt = new Date();
  readonly #before = loadavg()[0]!;

  onInit({ config }: Vitest): void {
    this.#root = config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = Object.fromEntries(
      modules.map((one) => [relative(this.#root, one.moduleId), costOf(one)] as const).sort(byProcessor),
    );
    const measures: Measures = {
      startedAt: this.#startedAt.toISOString(),
      seconds: rounded((Date.now() - this.#startedAt.getTime()) / 1000),
      load: { processors: cpus().length, before: rounded(this.#before), after: rounded(loadavg()[0]!) },
      suites: Object.fromEntries([...bySuite(files)].sort(byProcessor)),
      files,
    };
    const path = process.env.SITEWRIGHT_MEASURES ?? `${this.#root}/${MEASURES}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(measures, undefined, 2)}\n`);
    if (modules.length <= DEAREST) return;
    console.log(`\nDearest files, processor seconds (all: ${path}):`);
    for (const [file, { processorSeconds, seconds }] of Object.entries(files).slice(0, DEAREST))
      console.log(`  ${processorSeconds.toFixed(1).padStart(6)}  ${file} (${seconds.toFixed(0)} s elapsed)`);
  }
}

function costOf(module: TestModule): Cost {
  const tests = [...module.children.allTests()];
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return {
    tests: tests.filter((test) => test.result().state !== 'skipped').length,
    failed: tests.filter((test) => test.result().state === 'failed').length,
    seconds: rounded((duration + collectDuration + setupDuration) / 1000),
    processorSeconds: rounded(module.meta().processorSeconds ?? 0),
  };
}

/** By folder, as they are named on the command line: `test/unit`, `packages/yaql`. */
function bySuite(files: Measures['files']): Map<string, Cost> {
  const suites = new Map<string, Cost>();
  for (const [file, cost] of Object.entries(files)) {
    const suite = file.split('/').slice(0, 2).join('/');
    const sum = suites.get(suite) ?? { tests: 0, failed: 0, seconds: 0, processorSeconds: 0 };
    suites.set(suite, {
      tests: sum.tests + cost.tests,
      failed: sum.failed + cost.failed,
      seconds: rounded(sum.seconds + cost.seconds),
      processorSeconds: rounded(sum.processorSeconds + cost.processorSeconds),
    });
  }
  return suites;
}

const byProcessor = ([, one]: readonly [string, Cost], [, other]: readonly [string, Cost]) =>
  other.processorSeconds - one.processorSeconds;
const rounded = (value: number) => Math.round(value * 10) / 10;
