// The service and its machines, as someone sees them who has only this machine: not by Sitewright.
import assert from 'node:assert/strict';

/** @typedef {import('./system.mjs').System} System */

/**
 * Servers that answer, and the versions they have.
 *
 * @param {System} system
 */
export async function answering(system) {
  const servers = new Map();
  for (let tries = 0; tries < 24; tries += 1) {
    const [, version, server] = /^webstack (\S+) on (\S+): visit \d+$/.exec(await system.get('/')) ?? [];
    assert(server !== undefined && version !== undefined, 'the service answers something else');
    servers.set(server, version);
  }
  return servers;
}

/**
 * @param {System} system
 * @param {string} node
 * @param {string} statement
 */
const ask = async (system, node, statement) =>
  (
    await system.shell(
      `podman exec sitewright-${node} runuser -u postgres -- psql --no-psqlrc -Atc "${statement}" webstack`,
    )
  ).trim();

/**
 * Rows that the database has.
 *
 * @param {System} system
 * @param {string} node
 */
export const rowsOf = async (system, node) => Number(await ask(system, node, 'SELECT count(*) FROM visits'));

/**
 * The one database that takes changes.
 *
 * @param {System} system
 */
export async function primaryOf(system) {
  const found = [];
  for (const node of (await installations(system)).keys())
    if (node.includes('db') && (await ask(system, node, 'SELECT pg_is_in_recovery()')) === 'f') found.push(node);
  assert(found.length === 1 && found[0] !== undefined, `${found.length} databases take changes`);
  return found[0];
}

/**
 * Containers by their machines: a machine that is deployed again has another.
 *
 * @param {System} system
 * @returns {Promise<Map<string, string>>}
 */
export async function installations(system) {
  const like = "--filter label=sitewright.simulator --format '{{.Names}} {{.ID}}'";
  const lines = (await system.shell(`podman ps ${like}`)).trim().split('\n');
  return new Map(lines.map((line) => /** @type {[string, string]} */ (line.replace('sitewright-', '').split(' '))));
}

/**
 * Machines that were deployed since.
 *
 * @param {System} system
 * @param {Map<string, string>} before
 */
export async function deployedSince(system, before) {
  return [...(await installations(system))].filter(([name, id]) => before.get(name) !== id).map(([name]) => name);
}

/**
 * The release's own checks: the service answers to every server, and replicas follow.
 *
 * @param {System} system
 */
export const verify = (system) =>
  system.shell('sitewright graph execute --cluster 1 --type network_verification --wait');

/**
 * @param {System} system
 * @param {string} node
 */
export const statusOfReplica = (system, node) => ask(system, node, 'SELECT status FROM pg_stat_wal_receiver');

/**
 * Names of the replicas that follow a primary.
 *
 * @param {System} system
 * @param {string} primary
 */
export const replicasOf = async (system, primary) =>
  (
    await ask(system, primary, `SELECT application_name FROM pg_stat_replication WHERE state = 'streaming' ORDER BY 1`)
  ).split('\n');
