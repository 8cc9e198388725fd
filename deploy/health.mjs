// Health checks of docker-compose.yml and deploy/Dockerfile. Exit code 0 if healthy, else 1 with the reason.
//   node health.mjs http URL          the URL answers without an error
//   node health.mjs tls HOST:PORT     the port accepts TLS connections
//   node health.mjs polls QUEUE...    a process on this host polls these task queues of Temporal
// Temporal's address, namespace, prefix, TLS and API key come from the settings in the environment.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { connect } from 'node:tls';

const LIMIT_MS = 8_000;
/** A poll waits for up to a minute, and Temporal records the time when it starts. */
const MAX_POLL_AGE_MS = 90_000;

/** The settings of `temporal`, by the end of their variables. */
const temporal = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => {
    const [, setting] = /^SITEWRIGHT_TEMPORAL_(.+)$/.exec(name) ?? [];
    return setting && value ? [[setting, value]] : [];
  }),
);

const checks = { http, tls, polls };
const [name = '', ...args] = process.argv.slice(2);
const check = checks[/** @type {keyof typeof checks} */ (name)];
if (check === undefined || args.length === 0) throw new Error(`usage: health.mjs ${Object.keys(checks).join('|')} …`);

setTimeout(() => fail(`no answer within ${LIMIT_MS / 1000} s`), LIMIT_MS).unref();
try {
  await check(...args);
  process.exit(0);
} catch (error) {
  fail(error instanceof Error ? (error.cause ?? error.message) : error);
}

/** @param {unknown} reason */
function fail(reason) {
  console.error(`unhealthy: ${reason}`);
  process.exit(1);
}

/** @param {string} url */
async function http(url) {
  const { ok, status } = await fetch(url);
  if (!ok) throw new Error(`${url} answers ${status}`);
}

/** @param {string} address */
async function tls(address) {
  const [, host, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  await new Promise((resolve, reject) => {
    // Clients verify the certificate; this check does not.
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => resolve(socket.end()));
    socket.on('error', reject);
  });
}

/** @param {string} setting */
function contentOf(setting) {
  return temporal[setting] ? readFileSync(temporal[setting]) : undefined;
}

/** @param {string[]} queues */
async function polls(...queues) {
  const { Connection } = await import('@temporalio/client');
  const { ADDRESS: address = '127.0.0.1:7233', NAMESPACE: namespace, PREFIX: prefix } = temporal;
  const apiKey = contentOf('API_KEY_FILE')?.toString().trim();
  const [ca, crt, key] = ['TLS_CA_FILE', 'TLS_CERT_FILE', 'TLS_KEY_FILE'].map(contentOf);
  const serverName = temporal.TLS_SERVER_NAME;
  const connection = await Connection.connect({
    address,
    connectTimeout: LIMIT_MS / 2,
    ...(apiKey && { apiKey }),
    ...((apiKey || ca || crt || serverName) && {
      tls: {
        ...(ca && { serverRootCACertificate: ca }),
        ...(crt && key && { clientCertPair: { crt, key } }),
        ...(serverName && { serverNameOverride: serverName }),
      },
    }),
  });
  for (const own of queues) {
    const queue = prefix ? `${prefix}:${own}` : own;
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace: namespace || 'default',
      taskQueue: { name: queue },
      // Activities: nodes poll for nothing else.
      taskQueueType: 2,
    });
    const recent = (pollers ?? []).filter(({ identity, lastAccessTime }) => {
      const ageMs = Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000;
      return identity?.endsWith(`@${hostname()}`) && ageMs < MAX_POLL_AGE_MS;
    });
    if (recent.length === 0) throw new Error(`no process on ${hostname()} polls ${queue}`);
  }
}
