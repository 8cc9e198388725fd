/** An actor that no API has verified: whoever has a credential of the namespace gives any name to Temporal. */
export const claimedName = (name: string | undefined): string =>
  name === undefined ? 'temporal' : `temporal, says ${name}`;
