import type { PackageDiagnostic } from './problems.ts';

/** List of checksums that Fuel's plugin builder puts into what it makes; an `.fp` has no other. */
export const BUILDER_CHECKSUMS = 'checksums.sha1';

const RPM_MAGIC = [0xed, 0xab, 0xee, 0xdb];
/** An RPM starts with a lead of this size, which names the package: `NAME-1.0-1.0.0-1`. */
export const RPM_LEAD_BYTES = 96;
const RPM_NAME = { from: 10, to: 76 };

type Explained = Pick<PackageDiagnostic, 'code' | 'message' | 'hint'>;

/** What to do with a file that is an RPM of Fuel's plugin builder; undefined for any other. `start`: its first bytes. */
export function explainRpm(start: Uint8Array): Explained | undefined {
  if (!RPM_MAGIC.every((byte, at) => start[at] === byte)) return undefined;
  const [lead] = new TextDecoder().decode(start.subarray(RPM_NAME.from, RPM_NAME.to)).split('\0');
  // The spec of the builder: Name is NAME-MAJOR.MINOR, which is the folder too; version and release follow.
  const plugin = /^([\w.+-]+)-[\w.]+-[\w.]+$/.exec(lead ?? '')?.[1];
  const [file, folder] = plugin === undefined ? ['FILE', 'NAME-VERSION'] : [`${lead}.noarch.rpm`, plugin];
  return {
    code: 'archive.rpm',
    message: "this is an RPM, as Fuel's plugin builder makes them; its content is a plugin, which can be installed",
    hint: `Unpack it and install the folder: rpm2cpio ${file} | cpio -idm && sitewright package install var/www/nailgun/plugins/${folder}`,
  };
}

/** What to do with an `.fp` of Fuel's plugin builder. `folder`: the one at its top. */
export function explainFp(folder: string): Explained {
  const name = /^[\w.+-]+$/.test(folder) ? folder : undefined;
  return {
    code: 'archive.fp',
    message:
      "this is an .fp file, as Fuel's plugin builder makes them; its content is a plugin, which can be installed",
    hint: `Unpack it and install the folder: tar xzf ${name ?? 'FILE'}${name === undefined ? '' : '.fp'} && sitewright package install ${name ?? 'NAME-VERSION'}`,
  };
}
