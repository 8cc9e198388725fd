import { realpathSync, statSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { valueAt } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { type SettingOrigin, settingDefinitions } from './settings.ts';

/**
 * Why a settings file that nobody named may hold what someone else wants: settings decide where keys go, and name code. As Git with
 * `safe.directory`, and sshd with its keys: the file and its folder belong to this user or to root, and nobody else may write
 * them. Undefined: it does not.
 *
 * @throws the system's error where it cannot be looked at
 */
export function whyOfOthers(path: string): string | undefined {
  const own = process.getuid?.();
  if (own === undefined) return undefined;
  const real = realpathSync(path);
  for (const place of new Set([real, dirname(real), dirname(path)])) {
    const { uid, mode } = statSync(place);
    if (uid !== own && uid !== 0) return `${place} belongs to another user`;
    if ((mode & 0o022) !== 0) return `others may write ${place} (mode ${(mode & 0o777).toString(8)})`;
  }
  return undefined;
}

/**
 * What a file that came with its folder, such as a clone, does not decide: which code runs, where a secret of ours goes, and
 * which of our files are secrets to send.
 */
export function checkFolderFile(
  file: string,
  values: Record<string, unknown>,
  origins: ReadonlyMap<string, SettingOrigin>,
): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const refuse = (code: string, path: string, line: number, message: string, hint: string): void =>
    void problems.push({ severity: 'error', code: `settings.${code}`, message, hint, file, line, path });
  const trusted = `If you trust it, name the file: --config ${file}, or SITEWRIGHT_CONFIG`;
  const lineOf = (path: string): number | undefined => {
    const origin = origins.get(path);
    return origin?.from === 'file' ? origin.line : undefined;
  };
  for (const { path, variable, isCode, goesTo, ownSecret, holdsSecrets } of settingDefinitions) {
    const line = lineOf(path);
    if (line !== undefined) {
      const isSecret = ownSecret !== undefined || holdsSecrets;
      if (isSecret && !isBeside(file, valueAt(values, path.split('.'))))
        refuse(
          'foreign-secret',
          path,
          line,
          `${path} is outside the working folder, whose file names it`,
          `${trusted}.`,
        );
      if (isCode) {
        const message = `${path} is code, which a file of the working folder runs only if it is named`;
        refuse('foreign-code', path, line, message, `If you trust it: --config ${file}, or SITEWRIGHT_CONFIG.`);
      }
    }
    if (goesTo === undefined || origins.get(path)?.from !== 'environment') continue;
    const address = [...path.split('.').slice(0, -1), goesTo].join('.');
    const at = lineOf(address);
    if (at === undefined) continue;
    const message = `${variable} is not sent to an address that a file of the working folder names`;
    refuse('foreign-address', address, at, message, `${trusted}; or set the address in the environment as well.`);
  }
  return problems;
}

/** Whether a path is below the folder of a file, by no link. */
function isBeside(file: string, path: unknown): boolean {
  try {
    return realpathSync(String(path)).startsWith(`${realpathSync(dirname(file))}${sep}`);
  } catch {
    // What is missing is nobody's secret; it is reported as such.
    return true;
  }
}
