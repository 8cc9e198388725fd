/** The data with which a node enrols. It gets it in its user data or from `agent install`. */
export interface EnrolmentTicket {
  readonly gateway: string;
  /** Certificate of the authority, as PEM. */
  readonly authority: string;
  readonly token: string;
}
