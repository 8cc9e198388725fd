import { Socket } from 'node:net';

/** Of the API, Temporal, its Web UI and MAAS: a demo or a system of whoever runs the tests may answer there. */
const DEFAULT_PORTS: ReadonlySet<number> = new Set([8080, 7233, 8233, 5240]);
const LOOPBACK = /^(127\.|localhost$|::1$)/;

/** `[{ port, host }, callback]`, in an array of its own where it comes from `net.connect`; or the port, the host. */
function target([first, second]: readonly unknown[]): { port: number; host: string } {
  const given = Array.isArray(first) ? first[0] : first;
  const { port, host } = typeof given === 'object' && given !== null ? given : { port: given, host: second };
  return { port: Number(port), host: typeof host === 'string' ? host : 'localhost' };
}

// As a setup file, it holds in all processes of the tests: nothing answers at these ports, as on a machine where nothing runs.
const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  const { port, host } = target(args);
  if (!DEFAULT_PORTS.has(port) || !LOOPBACK.test(host)) return Reflect.apply(connect, this, args);
  const refused = { code: 'ECONNREFUSED', syscall: 'connect', address: host, port };
  process.nextTick(() => this.destroy(Object.assign(new Error(`connect ECONNREFUSED ${host}:${port}`), refused)));
  return this;
};
