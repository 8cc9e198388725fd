/** What is fetched to be installed: by TLS, or compared with a checksum. */
export interface Download {
  readonly url: string;
  /** SHA-512, base64. */
  readonly sha512?: string;
}

/** `https://…`, or with a checksum in the form of npm: `http://…#sha512-BASE64`; undefined for any other address. */
export function downloadOf(address: string): Download | undefined {
  const [, url, checksum] = /^(https?:\/\/[^\s#]+)(?:#sha512-([A-Za-z0-9+/]{86}==))?$/.exec(address) ?? [];
  if (url === undefined) return undefined;
  if (checksum !== undefined) return { url, sha512: checksum };
  return url.startsWith('https:') ? { url } : undefined;
}
