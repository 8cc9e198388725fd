import { readFileSync } from 'node:fs';
import { SetupError } from '../../core/problems/refusal.ts';

/**
 * Reads a file that a setting names.
 *
 * @throws SetupError with the setting and the file
 */
export function readSettingFile(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new SetupError('settings', `the file of ${setting}, ${file}, cannot be read (${code})`, { cause: error });
  }
}
