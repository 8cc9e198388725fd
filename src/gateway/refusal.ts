/** Why the gateway refuses a request. `code` is part of the protocol; `message` is for people. */
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

/** The caller should retry later. */
export const notYet = (message: string): Refusal => new Refusal(503, 'not-yet', message);
