import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, it } from 'vitest';

const text = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const read = (path: string): unknown => JSON.parse(text(path));

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly engines: { readonly node: string };
}
const manifest = read('package.json') as Manifest;

/**
 * The SDK's protocol types are made with protobufjs. With two copies installed, reading a history from
 * JSON fails with "type must be a Type": so ours is pinned to the SDK's version, and there is one.
 */
describe('protobufjs', () => {
  it('is the same copy that the SDK uses', () => {
    const lock = read('package-lock.json') as { packages: Record<string, { version?: string }> };
    // gRPC's loader of .proto files has a copy of its own, which never sees the SDK's types.
    const copies = Object.keys(lock.packages).filter((path) => /(^|\/)node_modules\/protobufjs$/.test(path));
    expect(copies.filter((path) => path.includes('@temporalio'))).toEqual([]);
    expect(lock.packages['node_modules/protobufjs']?.version).toBe(manifest.dependencies.protobufjs);
    const fromHere = createRequire(import.meta.url).resolve('protobufjs');
    const fromSdk = createRequire(createRequire(import.meta.url).resolve('@temporalio/proto')).resolve('protobufjs');
    expect(fromSdk).toBe(fromHere);
  });

  it('reads a history from JSON', () => {
    const history = historyFromJSON({
      events: [
        {
          eventId: '1',
          eventTime: '2026-01-02T03:04:05.000Z',
          eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
          workflowExecutionStartedEventAttributes: { workflowType: { name: 'deploy_site' }, attempt: 1 },
        },
        {
          eventId: '2',
          eventTime: '2026-01-02T03:04:05.100Z',
          eventType: 'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED',
          workflowTaskScheduledEventAttributes: { taskQueue: { name: 'sitewright' } },
        },
      ],
    });
    expect(history.events).toHaveLength(2);
    expect(history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name).toBe('deploy_site');
    expect(history.events?.[1]?.eventId?.toString()).toBe('2');
  });
});

describe('package.json', () => {
  it('pins every package to one version, and all of the SDK to the same', () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(all.filter(([, version]) => !/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+(?:-rc\.\d+)?$/.test(version))).toEqual([]);
    expect(new Set(all.filter(([name]) => name.startsWith('@temporalio/')).map(([, version]) => version)).size).toBe(1);
  });

  it('requires the same Node.js as the entry points', () => {
    const [, major, minor] = /const LEAST = \[(\d+), (\d+)\]/.exec(text('bin/node-24.mjs')) ?? [];
    expect(manifest.engines.node).toBe(`>=${major}.${minor}`);
  });

  it('has a lock file with the checksum of every package that comes from a registry', () => {
    const lock = read('package-lock.json') as { packages: Record<string, { integrity?: string; link?: true }> };
    // Links are to packages of ours, which are in this repository.
    const fetched = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);
    expect(fetched.length).toBeGreaterThan(100);
    const unchecked = fetched.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity));
    expect(unchecked.map(([path]) => path)).toEqual([]);
  });

  it('has a lock file without the name of a registry', () => {
    expect(text('package-lock.json')).not.toContain('"resolved": "http');
  });
});
