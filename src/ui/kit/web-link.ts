// Addresses that others wrote.

/** An address to link to; undefined for anything but the web: `javascript:` runs as us. */
export const webLink = (address: unknown): string | undefined =>
  typeof address === 'string' && /^https?:\/\/[^\s]/i.test(address) ? address : undefined;
