// Addresses that others wrote.

/**
 * An address to link to; undefined for anything but the web: `javascript:` runs as us.
 *
 * @param {unknown} address
 * @returns {string | undefined}
 */
export const webLink = (address) =>
  typeof address === 'string' && /^https?:\/\/[^\s]/i.test(address) ? address : undefined;
