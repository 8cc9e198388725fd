import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MaasConnection } from '../src/connection.ts';
import { MaasError, type MaasFailure } from '../src/failure.ts';
import { parseMachine } from '../src/machine.ts';
import { machineStatusName } from '../src/status.ts';
import { testKey } from './rig/maas-process.ts';

interface Step {
  readonly note: string;
  readonly request?: { readonly method: string; readonly url: string };
  readonly response?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly json?: unknown;
    readonly text?: string;
  };
}

const folder = new URL('./data/', import.meta.url);
const steps = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) => {
    const recording = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { steps: Step[] };
    return recording.steps.map((step, index) => ({ ...step, at: `${file} ${index}` }));
  });

/** The client's reading of a recorded answer. */
async function replay(step: Step): Promise<{ value?: unknown; failure?: MaasFailure }> {
  const { request, response } = step;
  if (!request || !response) throw new Error('no exchange');
  const body = response.json === undefined ? (response.text ?? '') : JSON.stringify(response.json);
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const connection = new MaasConnection({
    url: 'http://maas.test/MAAS',
    apiKey: testKey,
    transport: {
      send: () => Promise.resolve({ status: response.status, headers, body }),
      close: () => Promise.resolve(),
    },
  });
  try {
    const path = 'machines/x/';
    const value = request.method === 'GET' ? await connection.get(path) : await connection.post(path);
    return { value };
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    for (const part of testKey.split(':')) expect(JSON.stringify(error.failure) + error.message).not.toContain(part);
    return { failure: error.failure };
  }
}

const exchanges = steps.filter((step) => step.response !== undefined);

describe('recorded answers of MAAS 3.6.5', () => {
  it('there are recordings', () => expect(exchanges.length).toBeGreaterThan(250));

  it('are each a value, or a failure of the kind of their status', async () => {
    const kinds: Record<number, string[]> = {
      400: ['invalid', 'unauthorised', 'no-such-endpoint'],
      // An old timestamp is a fault of the clock, not of the key.
      401: ['unauthorised', 'worker-clock'],
      403: ['forbidden'],
      404: ['not-found', 'no-such-endpoint'],
      405: ['no-such-endpoint'],
      409: ['conflict-state', 'conflict-retry'],
      500: ['unavailable'],
      503: ['unavailable'],
    };
    for (const step of exchanges) {
      const status = step.response?.status ?? 0;
      const { failure } = await replay(step);
      if (status < 300) expect(failure, step.at).toBeUndefined();
      else expect(kinds[status], `${step.at} ${status}`).toContain(failure?.kind);
    }
  });

  it('keep MAAS’ texts in form errors', async () => {
    let seen = 0;
    for (const step of exchanges) {
      if (step.response?.status !== 400 || typeof step.response.json !== 'object') continue;
      const { failure } = await replay(step);
      expect(failure, step.at).toMatchObject({ kind: 'invalid', fields: step.response.json });
      seen++;
    }
    expect(seen).toBeGreaterThan(20);
  });

  it('give every machine with its number, owner and name', () => {
    let seen = 0;
    for (const step of exchanges) {
      const answer = step.response?.json;
      for (const item of Array.isArray(answer) ? answer : [answer]) {
        const raw = item as Record<string, unknown> | null | undefined;
        if (!raw || typeof raw !== 'object' || !('status_name' in raw) || !('hostname' in raw)) continue;
        const machine = parseMachine(raw);
        expect(machine, step.at).toMatchObject({ systemId: raw.system_id, status: raw.status, hostname: raw.hostname });
        expect(machine?.owner ?? null, step.at).toBe(raw.owner ?? null);
        expect(machine?.statusName).toBe(machineStatusName(raw.status as number));
        seen++;
      }
    }
    expect(seen).toBeGreaterThan(100);
  });
});
