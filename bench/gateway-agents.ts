/** The connections of many agents to their gateway, in one process of `bench/gateway.ts`. Ends with it. */
import './bounded.ts';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { retryPauses } from '../src/core/retry-pauses.ts';
import { GatewayConnection } from '../src/gateway/index.ts';

const [url = '', file = ''] = process.argv.slice(2);
const keys = JSON.parse(readFileSync(file, 'utf8')) as { key: string; certificate: string }[];
const anything = z.looseObject({});
let agents: readonly GatewayConnection[] = [];
process.on('disconnect', () => process.exit());
process.on('message', (message: 'ask' | { readonly authority: string }) => {
  if (message !== 'ask') {
    agents = keys.map((key) => new GatewayConnection({ url, authority: message.authority }, key));
    process.send!('ready');
    return;
  }
  let failed = 0;
  const ask = async (agent: GatewayConnection): Promise<number> => {
    // As an agent that has output to bring.
    for (const nextPause = retryPauses(100, 15_000); ; ) {
      try {
        await agent.ask('/v1/order-keys', undefined, anything);
        return Date.now();
      } catch {
        failed += 1;
      }
      await delay(nextPause());
    }
  };
  void Promise.all(agents.map(ask)).then((answeredAt) => process.send!({ answeredAt, failed }));
});
