import { describe, expect, it } from 'vitest';
import { beatOf } from '../../../activities/run/heartbeats.ts';

const start = Date.UTC(2026, 10, 22, 11, 30);
const machine = { hostname: 'n1', systemId: 'abc123', status: 9, statusMessage: 'Installing OS - curtin' };

describe('the heartbeat of a step in Pending Activities', () => {
  it('shows the state of the machine in MAAS, and the minutes so far', () => {
    expect(beatOf(start + 12.9 * 60_000, start, machine, undefined)).toEqual({
      machine: 'n1 (abc123)',
      maas: 'Deploying: Installing OS - curtin',
      minutes: 12,
    });
    expect(beatOf(start, start, { ...machine, statusMessage: 'Deploying' }, undefined).maas).toBe('Deploying');
    expect(beatOf(start, start, undefined, undefined)).toEqual({ minutes: 0 });
  });

  it('shows after half a minute that MAAS does not answer', () => {
    const silent = Date.UTC(2026, 10, 22, 11, 42, 7);
    expect(beatOf(silent + 15_000, start, machine, silent)).not.toHaveProperty('waiting');
    expect(beatOf(silent + 25_000, start, machine, silent).waiting).toBe('MAAS has not answered since 11:42 UTC');
  });
});
