import { SetupError } from '../../src/core/problems/refusal.ts';
import { variableOf } from '../../src/platform/settings/settings.ts';

/** A server of this process cannot listen at its address, for a reason that the operator can fix. */
export class ListenError extends SetupError {
  override readonly name = 'ListenError';

  constructor(message: string, options: ErrorOptions = {}) {
    super('cannot-listen', message, options);
  }

  /** Whether another process has the port. */
  get isTaken(): boolean {
    return (this.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is already in use',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'that port needs privileges',
  ENOTFOUND: 'that name does not resolve to an address',
};

/**
 * For the rejection of `listen`.
 *
 * @param server its name in messages, such as "the API"
 * @param settings the settings of its address start with this, such as `api.`
 */
export const cannotListen =
  (server: string, { host, port }: { readonly host: string; readonly port: number }, settings: string) =>
  (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException;
    const reason = (code === undefined ? undefined : REASONS[code]) ?? String(error);
    const names = [`${settings}host`, `${settings}port`];
    throw new ListenError(
      `${server} cannot listen on ${host}:${port}: ${reason}; set ${names.join(' and ')} (${names.map(variableOf).join(', ')})`,
      { cause: error },
    );
  };
