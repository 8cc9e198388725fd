// Runs a program that listens on the loopback address only, and forwards a port of this container to it.
//   node open-loopback-port.mjs PORT LOOPBACK_PORT PROGRAM [ARG...]
// For the MAAS simulator, whose keys are public: its container publishes no port.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

const [port, loopbackPort, program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('usage: open-loopback-port.mjs PORT LOOPBACK_PORT PROGRAM [ARG...]');

const server = createServer((inside) => {
  const program = connect(Number(loopbackPort), '127.0.0.1');
  // When one side closes, close the other as well.
  pipeline(inside, program, () => inside.destroy());
  pipeline(program, inside, () => program.destroy());
});
server.listen(Number(port), process.env.LISTEN_ADDRESS ?? '0.0.0.0');

const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
