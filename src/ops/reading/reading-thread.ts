import { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from '../../packages/index.ts';
import { Thread } from '../../platform/threads/thread.ts';
import { type Problem, ProblemError, problem } from '../problem.ts';
import type { Reader } from './reader.ts';

export interface ReadingRequest<Work extends keyof Reader> {
  readonly work: Work;
  readonly given: Parameters<Reader[Work]>[0];
}

export type ReadingAnswer<Work extends keyof Reader> =
  | { readonly value: Awaited<ReturnType<Reader[Work]>> }
  | { readonly refused: Problem };

export interface OpenReader extends Reader {
  close(): Promise<void>;
}

/** Four times the memory for the documents of 1,000 machines. */
const MAX_MEGABYTES = 192;
/** Of processor time. */
const WORK_MS = 30_000;
/** For small input: a thousand times its slowest duration. */
const WORK_MS_OF_SMALL = 5_000;
/** There are four threads. */
const YOUNG_MEGABYTES = 16;

/** Texts of a site below this, and graphs of fewer tasks, do not wait for larger ones. */
const SMALL_TEXT = 128 * 1024;
const SMALL_GRAPH = 300;

/**
 * Reads in threads, each with a limit of memory and time: two for small things, so that no one waits for one intricate text,
 * one for large ones, one for archives, of which one at a time is unpacked.
 */
export function openReader(limits: ArchiveLimits = DEFAULT_ARCHIVE_LIMITS): OpenReader {
  const lane = (makes: string) =>
    new Thread<ReadingRequest<keyof Reader>, ReadingAnswer<keyof Reader>>({
      program: new URL('./reading-thread-main.ts', import.meta.url),
      makes,
      data: limits,
      maxMegabytes: MAX_MEGABYTES,
      youngMegabytes: YOUNG_MEGABYTES,
    });
  const smallOnes = [lane('the result'), lane('the result')] as const;
  const [large, archives] = [lane('the result'), lane('the package')];
  const small = () => (smallOnes[0].waiting <= smallOnes[1].waiting ? smallOnes[0] : smallOnes[1]);
  const ask = async <Work extends keyof Reader>(
    thread: typeof large,
    work: Work,
    given: ReadingRequest<Work>['given'],
  ): Promise<Awaited<ReturnType<Reader[Work]>>> => {
    const workMs = thread === large || thread === archives ? WORK_MS : WORK_MS_OF_SMALL;
    const asked = await thread.ask({ work, given }, { workMs });
    if (!asked.ok) {
      if (asked.reason === 'late') throw tooMuch(`it takes more than ${workMs / 1000} s of processor time to read`);
      if (asked.reason === 'out-of-memory') throw tooMuch(`it needs more than ${MAX_MEGABYTES} MB to read`);
      throw asked.error;
    }
    // A message has no type parameter: the answer is to this work.
    const answer = asked.value as ReadingAnswer<Work>;
    if ('refused' in answer) throw new ProblemError(answer.refused);
    return answer.value;
  };
  const ofDocuments = (files: readonly { readonly text: string }[]) =>
    files.reduce((sum, { text }) => sum + text.length, 0) < SMALL_TEXT ? small() : large;
  return {
    site: (files) => ask(ofDocuments(files), 'site', files),
    rendered: (files) => ask(ofDocuments(files), 'rendered', files),
    graph: (reading) => ask(isSmall(reading.source) ? small() : large, 'graph', reading),
    drawing: (drawing) => ask(drawing.tasks.length < SMALL_GRAPH ? small() : large, 'drawing', drawing),
    package: (file) => ask(archives, 'package', file),
    async close() {
      await Promise.all([...smallOnes, large, archives].map((thread) => thread.close()));
    },
  };
}

const tooMuch = (how: string): ProblemError =>
  problem('invalid', `the request is too large or too complex: ${how}`, { hint: 'Split it, or simplify it.' });

function isSmall(source: Parameters<Reader['graph']>[0]['source']): boolean {
  if ('yaml' in source) return source.yaml.length < SMALL_TEXT;
  const { body } = source;
  const tasks = Array.isArray(body) ? body : (body as { readonly tasks?: unknown } | null | undefined)?.tasks;
  return !Array.isArray(tasks) || tasks.length < SMALL_GRAPH;
}
