// The two protocols that carry everything, as models all of whose states are visited: the claim of a site or cluster (Claim.tla),
// and a node's journal of the attempts of a task (Journal.tla). `npm run model` checks them, puts each known defect back and
// demands that it is found, and has the models accept what the simulator sees: the traces of some seeds.
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { TraceModules } from './simulator-traces.ts';
import { type Check, type Checked, check, tlcJar } from './tlc.ts';

const SETS = { Runs: ['a', 'b'], Steps: ['s', 't'], Followers: ['f', 'g'], Supervisors: ['x', 'y'] } as const;

interface ClaimBounds {
  readonly runs: 1 | 2;
  readonly resets?: number;
  readonly kinds: readonly ('open' | 'work' | 'permit' | 'child' | 'close')[];
  readonly places?: number;
  readonly steps?: 1 | 2;
  readonly sequences?: number;
  readonly restores?: number;
  readonly deaths?: boolean;
  readonly stalls?: boolean;
  readonly faults?: readonly string[];
}

const setOf = (values: readonly string[]): string => `{${values.join(', ')}}`;
const texts = (values: readonly string[]): string => setOf(values.map((value) => JSON.stringify(value)));
const numbers = (most: number): string => setOf(Array.from({ length: most }, (_, at) => String(at + 1)));
const named = (names: readonly string[]): Record<string, string> => Object.fromEntries(names.map((one) => [one, one]));
const flag = (value: boolean): string => (value ? 'TRUE' : 'FALSE');

function claim(bounds: ClaimBounds, more: Omit<Partial<Check>, 'module' | 'constants'>): Check {
  const { runs, resets = 0, kinds, steps = 2, sequences = 1, restores = 0, faults = [] } = bounds;
  const [ofRuns, ofSteps] = [SETS.Runs.slice(0, runs), SETS.Steps.slice(0, steps)];
  return {
    module: 'Claim',
    specification: 'Spec',
    constraint: 'Bounded',
    symmetry: 'Symmetry',
    constants: {
      ...named([...ofRuns, ...ofSteps]),
      Runs: setOf(ofRuns),
      Steps: setOf(ofSteps),
      Resets: String(resets),
      Places: String(bounds.places ?? 0),
      Kinds: texts(kinds),
      Sequences: numbers(sequences),
      Restores: String(restores),
      Deaths: flag(bounds.deaths ?? true),
      Stalls: flag(bounds.stalls ?? true),
      Faults: texts(faults),
    },
    ...more,
  };
}

interface JournalBounds {
  readonly powerCuts?: number;
  readonly failures: number;
  readonly followers?: 1 | 2;
  readonly supervisors?: 1 | 2;
  readonly faults?: readonly string[];
}

function journal(bounds: JournalBounds, more: Omit<Partial<Check>, 'module' | 'constants'>): Check {
  const followers = SETS.Followers.slice(0, bounds.followers ?? 2);
  const supervisors = SETS.Supervisors.slice(0, bounds.supervisors ?? 2);
  return {
    module: 'Journal',
    specification: 'Spec',
    symmetry: 'Symmetry',
    constants: {
      ...named([...followers, ...supervisors]),
      Generations: numbers(2),
      Followers: setOf(followers),
      Supervisors: setOf(supervisors),
      PowerCuts: String(bounds.powerCuts ?? 1),
      Failures: String(bounds.failures),
      Faults: texts(bounds.faults ?? []),
    },
    ...more,
  };
}

const STALLED = { invariants: ['KeptInStalls'], properties: ['HolderKeepsClaim'] };
const OF_ONE_RUN = {
  invariants: ['KeptOfOneRun'],
  properties: ['HolderKeepsClaim', 'ClosedRunsClaimNothing', 'RecordsGoForward'],
};
const CALM = { invariants: ['Kept'], properties: ['HolderKeepsClaim'] };
const LIVES = { specification: 'FairSpec', symmetry: undefined } as const;
const PERMITS = { invariants: ['PermitsWithinLimit', 'DeadPermitsAreFree'], properties: ['HolderKeepsClaim'] };
const JOURNAL = { invariants: ['Kept'], properties: ['ResultsStay'] };

const TWO_RUNS = { runs: 2, kinds: ['open', 'work'] } as const;
const TWO_ENDS = { runs: 2, kinds: ['open', 'close'] } as const;
const ONE_RUN = { runs: 1, resets: 1, kinds: ['open', 'work', 'child', 'close'], sequences: 2 } as const;
const RESET_BETWEEN = { ...TWO_ENDS, resets: 1 } as const;
const UNHURRIED = { runs: 2, resets: 1, kinds: ['open', 'work', 'child', 'close'], steps: 1, stalls: false } as const;
const RESTORED = { runs: 2, restores: 1, kinds: ['open', 'work'], stalls: false } as const;

/** Runs of a subject share a place with those of others. */
const SHARED = { runs: 2, resets: 1, kinds: ['open', 'permit'], steps: 1, places: 1, deaths: false } as const;
const SHARED_AND_RESTORED = { runs: 1, restores: 1, kinds: ['open', 'permit', 'close'], steps: 2, places: 1 } as const;

/** All that holds. */
const SOUND: Readonly<Record<string, Check>> = {
  'two runs, with stalls': claim(TWO_RUNS, STALLED),
  'one run and a reset, with children and stalls': claim(ONE_RUN, OF_ONE_RUN),
  'two runs and a reset, without stalls': claim(UNHURRIED, CALM),
  'a store that is restored': claim(RESTORED, CALM),
  'permits, with a reset': claim(SHARED, PERMITS),
  'permits in a store that is restored, with stalls': claim(SHARED_AND_RESTORED, PERMITS),
  'each run ends': claim(
    { runs: 2, kinds: ['open', 'close'], deaths: false },
    { ...LIVES, properties: ['EachRunEnds'] },
  ),
  'the journal, with two followers': journal({ failures: 0, powerCuts: 0 }, JOURNAL),
  'the journal, with a failure': journal({ failures: 1, followers: 1 }, JOURNAL),
  'each attempt ends': journal(
    { failures: 0, powerCuts: 0, supervisors: 1 },
    { ...LIVES, properties: ['EachAttemptEnds'] },
  ),
};

/** Takes minutes. */
const DEEP: Readonly<Record<string, Check>> = {
  'two runs and a reset, with stalls': claim(RESET_BETWEEN, STALLED),
  'the journal, with two followers and two failures': journal({ failures: 2 }, JOURNAL),
};

const withFault = (bounds: ClaimBounds, fault: string): ClaimBounds => ({ ...bounds, faults: [fault] });

/** Defects, and where they are found. */
const FAULTS: Readonly<Record<string, (fault: string) => Check>> = {
  'a step changes a machine without proof': (fault) => claim(withFault(TWO_RUNS, fault), STALLED),
  'a claim is taken from an open run': (fault) => claim(withFault(TWO_RUNS, fault), STALLED),
  'a take-over does not compare': (fault) => claim(withFault(RESET_BETWEEN, fault), STALLED),
  'a take-over keeps the generation': (fault) => claim(withFault(ONE_RUN, fault), OF_ONE_RUN),
  'a claim begins with the first generation': (fault) => claim(withFault({ ...UNHURRIED, sequences: 1 }, fault), CALM),
  'a late end closes a run that goes on': (fault) => claim(withFault(ONE_RUN, fault), OF_ONE_RUN),
  'an end frees the claim of any run': (fault) => claim(withFault(TWO_ENDS, fault), STALLED),
  'a run that has ended claims again': (fault) => claim(withFault(ONE_RUN, fault), OF_ONE_RUN),
  'permits of others do not count': (fault) => claim(withFault(SHARED, fault), PERMITS),
  'permits of dead runs count': (fault) => claim(withFault(SHARED, fault), PERMITS),
  'permits of dead runs stay': (fault) => claim(withFault(SHARED, fault), PERMITS),
  'no claim is taken over': (fault) =>
    claim(withFault({ runs: 2, kinds: ['open', 'close'], deaths: false }, fault), {
      ...LIVES,
      properties: ['EachRunEnds'],
    }),
  'a task starts before its claim is synced': (fault) =>
    journal({ failures: 1, followers: 1, faults: [fault] }, JOURNAL),
  'a claim may be made twice': (fault) => journal({ failures: 1, faults: [fault] }, JOURNAL),
  'tasks do not wait for each other': (fault) => journal({ failures: 1, followers: 1, faults: [fault] }, JOURNAL),
  'processes of a killed supervisor go on': (fault) => journal({ failures: 1, followers: 1, faults: [fault] }, JOURNAL),
  'an older attempt starts after a newer one': (fault) => journal({ failures: 0, faults: [fault] }, JOURNAL),
};

/** What the model says where a process stalls between its proof and its change: MAAS knows no fences. */
const KNOWN_LIMIT = claim(TWO_RUNS, { invariants: ['Kept'] });

const { values } = parseArgs({
  options: {
    /** Checks whose names have this text. */
    only: { type: 'string', default: '' },
    /** More states, as nightly. */
    deep: { type: 'boolean', default: false },
    /** Of the simulator. */
    seeds: { type: 'string', default: '30' },
  },
});

async function traceModules(): Promise<TraceModules> {
  const script = fileURLToPath(new URL('./simulator-traces.ts', import.meta.url));
  const options = { maxBuffer: 512 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, [script, values.seeds], options);
  return JSON.parse(stdout) as TraceModules;
}

/** More than any seed has. */
const MANY = 20;

const claimTraces = (traces: string): Check => {
  const { constants } = claim({ runs: 1, kinds: [] }, {});
  const runs = texts(Array.from({ length: MANY }, (_, at) => `r${at + 1}`));
  const more = { specification: 'TraceSpec', modules: { Traces: traces }, isDeadlockAnError: true };
  return { ...more, module: 'ClaimTrace', constants: { ...constants, Runs: runs }, invariants: ['KeptInStalls'] };
};
const journalTraces = (traces: string): Check => {
  const { constants } = journal({ failures: 0 }, {});
  const more = { specification: 'TraceSpec', modules: { Traces: traces }, isDeadlockAnError: true };
  return {
    ...more,
    module: 'JournalTrace',
    constants: { ...constants, Generations: numbers(MANY) },
    invariants: ['Kept'],
  };
};

const jar = await tlcJar();
const started = performance.now();
let failures = 0;
let checks = 0;

async function told(name: string, wanted: Check, isExpected: (one: Checked) => boolean): Promise<void> {
  if (!name.includes(values.only)) return;
  const since = performance.now();
  checks += 1;
  const one = await check(jar, wanted);
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  const said = one.violated === null ? 'holds' : `${one.violated} does not hold`;
  console.log(`${isExpected(one) ? 'ok' : 'FAILED'}: ${name}: ${said} (${one.states} states, ${seconds} s)`);
  if (isExpected(one)) return;
  failures += 1;
  if (one.violated !== null) console.log(one.way.slice(0, 8000));
}

const holds = ({ violated }: Checked): boolean => violated === null;
const isFound = ({ violated }: Checked): boolean => violated !== null;
const all = [
  ...Object.entries({ ...SOUND, ...(values.deep ? DEEP : {}) }).map(
    ([name, wanted]) =>
      () =>
        told(name, wanted, holds),
  ),
  ...Object.entries(FAULTS).map(
    ([name, wanted]) =>
      () =>
        told(`with the defect "${name}"`, wanted(name), isFound),
  ),
  () => told('a change that stalls after its proof is late (docs/explain/guarantees.md)', KNOWN_LIMIT, isFound),
];
const traced = async (): Promise<void> => {
  if (!'the simulator: claims, journals'.includes(values.only)) return;
  const { counts, claim: claims, journal: journals, brokenClaim, brokenJournal } = await traceModules();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${counts.events} events of ${counts.claims} claims and ${counts.journals} tasks on nodes in ${seconds} s`,
  );
  await told('the simulator: claims', claimTraces(claims), holds);
  await told('the simulator: journals', journalTraces(journals), holds);
  await told('the simulator: claims, without one event', claimTraces(brokenClaim), isFound);
  await told('the simulator: journals, without one event', journalTraces(brokenJournal), isFound);
};
const queue = [traced, ...all].values();
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (const one of queue) await one();
  }),
);
console.log(`${checks} checks in ${((performance.now() - started) / 1000).toFixed(1)} s, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
