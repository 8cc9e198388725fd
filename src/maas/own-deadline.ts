/**
 * How long to wait for a machine in progress, from MAAS' own limit (`node_timeout`, minutes). Longer
 * than MAAS' (which is up to twice that since 3.5), so that it is MAAS that calls a machine failed
 * wherever it is alive to do so.
 */
export function ownDeadlineMs(nodeTimeoutMinutes: number, marginMs = 5 * 60_000): number {
  return Math.max(1, nodeTimeoutMinutes) * 2 * 60_000 + marginMs;
}
