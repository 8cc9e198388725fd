import { startGateway } from '../../../worker/gateway.js';
import type { Settings } from '../../platform/settings/index.js';
import type { Terminal } from '../terminal.js';
import { serve } from './serve.js';

/** Runs only the gateway, without an API. */
export function serveGateway(terminal: Terminal, settings: Settings): Promise<void> {
  return serve(terminal, settings, 'gateway', async (log) => {
    const gateway = await startGateway(settings, log, terminal.interrupted());
    return { ...gateway, said: `gateway ready at ${gateway.url}` };
  });
}
