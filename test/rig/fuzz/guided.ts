import { Coverage } from './coverage.ts';
import { mutateJson, mutateText } from './mutate-input.ts';

/** Something that takes input from outside. */
export interface FuzzTarget {
  readonly name: string;
  /** Inputs to start from. For `json`, texts of JSON. */
  readonly seeds: readonly string[];
  /** Inputs are JSON values, and mutated as such. */
  readonly json?: true;
  /** Words of the language. */
  readonly words?: readonly string[];
  /** Scripts whose coverage guides: part of their path. */
  readonly code: string;
  /** Takes one input. Throws for forbidden results; it does not throw for an input that it refuses. */
  run(input: string): void;
}

export interface Finding {
  readonly target: string;
  readonly input: string;
  readonly what: string;
}

export interface GuidedResult {
  readonly inputs: number;
  readonly findings: readonly Finding[];
  /** Inputs that ran new code. */
  readonly discovered: readonly string[];
  readonly slowestMs: number;
  /** Functions of the target that ran; 0 without guidance. */
  readonly functions: number;
}

export interface GuidedOptions {
  readonly random: () => number;
  /** Whether to continue after this number of inputs. */
  readonly more: (inputs: number) => boolean;
  /** Without it, inputs are mutated blindly, which takes less time for each. */
  readonly guided: boolean;
  /** Called with each input before it runs: to identify an endless one. */
  readonly before?: (input: string) => void;
}

/** An input that takes more processor time than this would delay others. */
const SLOW_MS = 1_000;
/** Reading the coverage takes as long as several inputs. */
const BATCH = 16;
const MAX_FINDINGS = 20;

/** Mutates inputs of a target; where one runs new code, it is mutated further. */
export function fuzz(target: FuzzTarget, { random, more, guided, before }: GuidedOptions): GuidedResult {
  const corpus = [...target.seeds];
  const discovered: string[] = [];
  const findings: Finding[] = [];
  let [inputs, slowestMs] = [0, 0];
  const run = (input: string): void => {
    before?.(input);
    const from = process.cpuUsage();
    try {
      target.run(input);
    } catch (error) {
      const what =
        error instanceof Error
          ? `${error.name}: ${error.message}\n${error.stack?.split('\n')[1] ?? ''}`
          : String(error);
      findings.push({ target: target.name, input, what });
    }
    const { user, system } = process.cpuUsage(from);
    const took = (user + system) / 1_000;
    slowestMs = Math.max(slowestMs, took);
    if (took > SLOW_MS) findings.push({ target: target.name, input, what: `${Math.round(took)} ms` });
    inputs++;
  };
  const next = (): string => {
    // The newest discoveries are the least explored.
    const at = random() < 0.5 ? random() : Math.sqrt(random());
    const text = corpus[Math.floor(at * corpus.length)]!;
    return target.json
      ? JSON.stringify(mutateJson(JSON.parse(text), random))
      : mutateText(text, corpus, target.words ?? [], random);
  };
  const coverage = guided ? new Coverage((url) => url.includes(target.code)) : undefined;
  try {
    for (const seed of target.seeds) run(seed);
    coverage?.add(coverage.take());
    while (more(inputs) && findings.length < MAX_FINDINGS) {
      const batch = Array.from({ length: BATCH }, next);
      for (const input of batch) run(input);
      if (coverage === undefined) continue;
      const together = coverage.take();
      if (!coverage.isNew(together)) continue;
      // Which of them it was: each again, alone.
      for (const input of batch) {
        run(input);
        const ran = coverage.take();
        if (!coverage.isNew(ran)) continue;
        coverage.add(ran);
        corpus.push(input);
        discovered.push(input);
      }
      coverage.add(together);
    }
    return { inputs, findings, discovered, slowestMs, functions: coverage?.functions ?? 0 };
  } finally {
    coverage?.stop();
  }
}
