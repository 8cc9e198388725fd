import { answerOf, Thread } from '../../platform/threads/thread.ts';
import { RequestError } from '../problems/transport-problem.ts';

/** A drawing in the DOT language, and what is made of it: one SVG element, or the places of its parts as JSON. */
export interface Drawing {
  readonly dot: string;
  readonly as: 'svg' | 'places';
}

/** Draws, as UTF-8. */
export interface Drawer {
  /** @param signal ends the work when no one waits for it any more */
  draw(drawing: Drawing, signal?: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Of processor time: ten times that of the largest graph of a real release. */
const WORK_MS = 20_000;
/** A drawing below this is small, and does not wait for a large one. */
const SMALL_DRAWING = 32 * 1024;
const SMALL_WORK_MS = 5_000;
const MAX_MEGABYTES = 512;
/** Graphviz works in memory of its own. */
const YOUNG_MEGABYTES = 8;

/**
 * Draws in threads of their own, one for small drawings and one for large ones, so that a graph of a real release (two
 * seconds of layout) keeps no request of this process waiting, and a graph that is never laid out keeps no other picture
 * waiting for long. `draw` throws with Graphviz' words when the text is not DOT, or with why the thread ended.
 */
export function openDrawer(workMs = WORK_MS): Drawer {
  const lane = () =>
    new Thread<Drawing, Uint8Array>({
      program: new URL('./drawing-main.ts', import.meta.url),
      makes: 'the picture',
      maxMegabytes: MAX_MEGABYTES,
      youngMegabytes: YOUNG_MEGABYTES,
    });
  const [small, large] = [lane(), lane()];
  return {
    async draw(drawing, signal) {
      const isSmall = drawing.dot.length < SMALL_DRAWING;
      const options = { workMs: isSmall ? Math.min(workMs, SMALL_WORK_MS) : workMs, ...(signal && { signal }) };
      const asked = await (isSmall ? small : large).ask(drawing, options);
      if (!asked.ok && (asked.reason === 'late' || asked.reason === 'out-of-memory'))
        throw new RequestError({
          code: 'invalid',
          message: `the graph is too complex: ${(asked.error as Error).message}`,
          hint: 'Choose fewer tasks, or take the drawing in the DOT language and lay it out elsewhere.',
        });
      return answerOf(asked);
    },
    close: async () => void (await Promise.all([small.close(), large.close()])),
  };
}
