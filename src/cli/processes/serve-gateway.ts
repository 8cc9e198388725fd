import { startGateway } from '../../../worker/gateway.ts';
import type { Settings } from '../../platform/settings/settings.ts';
import type { Terminal } from '../terminal.ts';
import { serve } from './serve.ts';

/** Runs only the gateway, without an API. */
export function serveGateway(terminal: Terminal, settings: Settings): Promise<void> {
  return serve(terminal, settings, 'gateway', async (log) => {
    const gateway = await startGateway(settings, log, terminal.interrupted());
    return { ...gateway, said: `gateway ready at ${gateway.url}` };
  });
}
