import { connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

/** TLS in front of a server without it. It admits only clients with one of the certificates that it accepts. */
export interface TlsProxy {
  readonly address: string;
  /** Open connections that were made with a certificate of this fingerprint. */
  count(fingerprint: string): number;
  /** From now on a certificate with this fingerprint is not accepted; its connections end. */
  revoke(fingerprint: string): void;
  close(): Promise<void>;
}

export async function tlsProxy(
  target: string,
  { authority, cert, key }: { readonly authority: string; readonly cert: string; readonly key: string },
): Promise<TlsProxy> {
  const [host = '', port = ''] = target.split(':');
  const open = new Map<TLSSocket, string>();
  const revoked = new Set<string>();
  const server = createServer({
    ...{ ca: authority, cert, key, requestCert: true, rejectUnauthorized: true },
    ALPNProtocols: ['h2'],
  });
  server.on('secureConnection', (socket) => {
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.on('error', () => socket.destroy());
    if (revoked.has(fingerprint256)) return void socket.destroy();
    open.set(socket, fingerprint256);
    const server = connect(Number(port), host);
    server.on('error', () => socket.destroy());
    server.on('close', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      server.destroy();
    });
    socket.pipe(server).pipe(socket);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    address: `127.0.0.1:${(server.address() as { port: number }).port}`,
    count: (fingerprint) => [...open.values()].filter((one) => one === fingerprint).length,
    revoke(fingerprint) {
      revoked.add(fingerprint);
      for (const [socket, shown] of open) if (shown === fingerprint) socket.destroy();
    },
    async close() {
      for (const socket of open.keys()) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
