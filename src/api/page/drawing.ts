import { answerOf, Thread } from '../../platform/threads/thread.js';

/** Makes one SVG element of a drawing in the DOT language. */
export interface Drawer {
  svg(dot: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Draws in a thread of its own, so that a graph of a real release (two seconds of layout) keeps no request of this
 * process waiting. `svg` throws with Graphviz' words when the text is not DOT, or with why the thread ended.
 */
export function openDrawer(): Drawer {
  const thread = new Thread<string, string>({
    program: new URL('./drawing-main.js', import.meta.url),
    makes: 'the picture',
  });
  return { svg: async (dot) => answerOf(await thread.ask(dot)), close: () => thread.close() };
}
