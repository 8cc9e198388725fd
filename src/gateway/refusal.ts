/** Why the gateway does not do what it was asked. `code` is part of the protocol; `message` is for people. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Asking again, later, is right. */
export const notYet = (message: string): Refusal => new Refusal(503, 'not-yet', message);
