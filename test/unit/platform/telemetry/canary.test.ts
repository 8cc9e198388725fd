import { expect, it } from 'vitest';
import { TokenOperations } from '../../../../src/ops/tokens.ts';
import { ApiMetrics, WorkerMetrics } from '../../../../src/platform/telemetry/metrics.ts';
import { Traces } from '../../../../src/platform/telemetry/traces.ts';
import { observeMaas } from '../../../../worker/parts/metrics.ts';
import { apiAlone } from '../../../api/api-rig.ts';
import { observedActivity, traceCollector } from '../../../rig/trace-collector.ts';

const MAAS_KEY = 'canaryconsumer:canarytoken:canarysecret';
const PASSWORD = 'canary-of-a-password';

it('traces and metrics have no token, key or password, wherever requests and failures carry one', async () => {
  const collector = await traceCollector();
  const { endpoint } = collector;
  const traces = new Traces({ endpoint, service: 'test', version: '1', onOutage: () => undefined });

  const metrics = new WorkerMetrics('1');
  const requests: Parameters<ApiMetrics['request']>[] = [];
  const port = {
    contentType: 'text/plain',
    text: async () => '',
    request: (...seen: Parameters<ApiMetrics['request']>) => void requests.push(seen),
  };
  const rig = await apiAlone({ traces, tokens: true, metrics: port });
  const apiMetrics = new ApiMetrics('1', rig.store);
  const { token } = await new TokenOperations(rig.store).create({ name: 'ci', role: 'admin' }, 'test');
  const bearer = { authorization: `Bearer ${token}` };
  for (const [method, path, body] of [
    ['GET', '/api/v1/sites', undefined],
    ['GET', `/api/v1/sites?token=${token}`, undefined],
    ['GET', `/api/v1/sites/${token}`, undefined],
    ['GET', `/${token}`, undefined],
    ['POST', '/api/v1/session', { token }],
    ['POST', '/api/v1/session/exchange', { code: token, verifier: PASSWORD }],
    ['GET', `/auth/callback?code=${PASSWORD}&state=x`, undefined],
  ] as const)
    await rig.ask(method, path, body, bearer);

  const call = observeMaas(metrics, traces);
  const fail = async () => {
    call({ request: `POST machines/abc/?op=deploy&user_data=${PASSWORD}`, ms: 20, outcome: 200, again: false });
    throw new Error(
      `refused: Authorization: Bearer ${token}, postgres://sitewright:${PASSWORD}@db.example/x, oauth_signature="%26${PASSWORD}"`,
    );
  };
  const input = { site: 'dc1', node: 'n1', password: PASSWORD, key: MAAS_KEY };
  await expect(observedActivity(input, fail, metrics, traces)).rejects.toThrow();
  await traces.flush();
  for (const seen of requests) apiMetrics.request(...seen);
  expect(requests.length).toBeGreaterThan(5);
  const counted = await apiMetrics.text();
  await rig.close();
  await traces.stop();
  await collector.close();
  const collected = JSON.stringify(collector.received);

  const all = `${collected}${counted}${await metrics.text()}`;
  expect(collected).toContain('deploy_node');
  for (const secret of [token, token.slice(-30), PASSWORD, 'canarysecret']) expect(all).not.toContain(secret);
});
