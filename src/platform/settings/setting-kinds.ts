import { z } from 'zod';
import { downloadOf } from '../../core/text/download-address.ts';

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' });
export const text = z.string().min(1);
const MUST_BE_CHECKED =
  'must start with https://, or end with the checksum of the file, such as http://files.example/agent.tgz#sha512-…: echo "sha512-$(openssl dgst -sha512 -binary FILE | base64 -w0)"';
/** What is fetched to be installed. */
export const download = text.refine((address) => downloadOf(address) !== undefined, MUST_BE_CHECKED);
/** A package of a distribution, which checks it itself, or a download. */
export const downloadOrPackage = text.refine(
  (value) => /^[a-z0-9][a-z0-9+.-]*(?:[=/:][\w+.:~-]+)?$/.test(value) || downloadOf(value) !== undefined,
  MUST_BE_CHECKED,
);
export const filePath = text.meta({ isPath: true });
export const ownSecret = (content: string) => filePath.meta({ ownSecret: content });
