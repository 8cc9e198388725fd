/** The API cannot listen at its address, for a reason that the operator can fix. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  /** Whether another process has the port. */
  get isTaken(): boolean {
    return (this.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
  }
}
