import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { freePorts } from '../../src/platform/free-port.ts';
import { ensureSearchAttributes } from '../../src/platform/temporal/search-attributes.ts';
import { serverFolder, serveTemporal, type TemporalServer } from './temporal-server.ts';

/** What Temporal's own pause of workflows needs, and otherwise as in the dev server that the tests share. */
const DYNAMIC = {
  'frontend.WorkflowPauseEnabled': true,
  // On from 1.28 on.
  'system.enableDeploymentVersions': true,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'matching.updateAckInterval': '5m',
  'frontend.namespaceCount': 5000,
  'history.MaxBufferedQueryCount': 100,
  'history.transferProcessorMaxPollRPS': 100,
};

const STORE = {
  sql: {
    pluginName: 'sqlite',
    databaseName: 'default',
    connectAddr: 'localhost',
    connectProtocol: 'tcp',
    connectAttributes: { mode: 'memory', cache: 'private' },
    maxConns: 1,
    maxIdleConns: 1,
    maxConnLifetime: '1h',
  },
};

const SERVICES = ['frontend', 'matching', 'history', 'worker'] as const;

/**
 * Temporal's own server of a version that `.ci/temporal-server` has built, with its data in memory: the server of the development
 * server, where no CLI with it can be had.
 */
export async function startTemporalInMemory(version: string, folder: string): Promise<TemporalServer> {
  const ports = await freePorts(2 * SERVICES.length + 1);
  const [address, httpPort] = [`127.0.0.1:${ports[0]}`, ports.at(-1)];
  const services = Object.fromEntries(
    SERVICES.map((name, at) => [
      name,
      {
        rpc: {
          grpcPort: ports[at],
          membershipPort: ports[SERVICES.length + at],
          bindOnLocalHost: true,
          ...(name === 'frontend' && { httpPort }),
        },
      },
    ]),
  );
  const dynamicConfig = join(folder, 'dynamic-config.yaml');
  const rules = Object.entries(DYNAMIC).map(([name, value]) => [name, [{ value }]]);
  await writeFile(dynamicConfig, JSON.stringify(Object.fromEntries(rules)));
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 1,
      datastores: { default: STORE, visibility: STORE },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services,
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: address },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '10s' },
  };
  // JSON is YAML; `--config-file` is newer than the oldest server.
  await writeFile(join(folder, 'in-memory.yaml'), JSON.stringify(config));
  const named = ['--root', folder, '--config', '.', '--env', 'in-memory'];
  const command = [join(serverFolder(version), 'server'), ...named, '--allow-no-auth', 'start'];
  const server = await serveTemporal(command, { folder, address, env: process.env });
  const connection = await Connection.connect({ address });
  await ensureSearchAttributes(connection, 'default');
  await connection.close();
  return server;
}
