/** What a node is given at its birth, by user data or by `agent install`. */
export interface EnrolmentTicket {
  readonly gateway: string;
  /** PEM of the authority. */
  readonly authority: string;
  readonly token: string;
}
