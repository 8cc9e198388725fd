import { prefixed } from '../../../workflows/protocol.ts';
import type { Settings } from '../settings/settings.ts';

/** Task queue of this installation's workers. */
export const ownQueue = ({ prefix, task_queue }: Pick<Settings['temporal'], 'prefix' | 'task_queue'>): string =>
  prefixed(prefix, task_queue);
