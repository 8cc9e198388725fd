import { startApi } from '../../../worker/api.ts';
import type { Settings } from '../../platform/settings/settings.ts';
import type { Terminal } from '../terminal.ts';
import { serve } from './serve.ts';

/** Runs the REST API in this process until Ctrl-C or SIGTERM. Prints its address once it listens. */
export function serveApi(terminal: Terminal, settings: Settings): Promise<void> {
  return serve(terminal, settings, 'api', async (log) => {
    const api = await startApi(settings, log, { stop: terminal.interrupted() });
    return { ...api, said: `API ready at ${api.url}` };
  });
}
