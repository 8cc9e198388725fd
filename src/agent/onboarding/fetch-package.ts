import type { Download } from '../../core/text/download-address.ts';

/** Commands that fetch a package into a file, and fail if it is not the one with the checksum. */
export function fetchPackage({ url, sha512 }: Download, file: string): readonly (readonly string[])[] {
  const quiet = ['--fail', '--silent', '--show-error', '--location', '--retry', '5'];
  // Redirects included.
  if (sha512 === undefined) return [['curl', ...quiet, '--proto', '=https', '--output', file, url]];
  const hex = Buffer.from(sha512, 'base64').toString('hex');
  return [
    ['curl', ...quiet, '--proto', '=http,https', '--output', file, url],
    ['sh', '-c', 'echo "$1  $2" | sha512sum --check --strict --status', 'sh', hex, file],
  ];
}
