import { readFileSync } from 'node:fs';
import type { Settings } from './settings.ts';

/** The MAAS API key, or why there is none. */
type MaasKey =
  | { readonly ok: true; readonly key: string }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/**
 * Reads the MAAS key, each time it is used, so that a renewed file needs no restart. Messages never
 * contain any part of it.
 */
export function readMaasKey(settings: Settings): MaasKey {
  const { key, key_file: file } = settings.maas;
  if (key !== undefined) return { ok: true, key };
  if (file === undefined) {
    const hint =
      'Set SITEWRIGHT_MAAS_KEY, or maas.key_file to a file with it. MAAS shows it in your account under API keys.';
    return { ok: false, message: 'there is no MAAS API key', hint };
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return {
      ok: false,
      message: `${file} cannot be read (${code})`,
      hint: 'Create it with the API key as its only line, mode 600.',
    };
  }
  if (!/^[^:\s]+:[^:\s]+:[^:\s]+$/.test(text)) {
    const hint = 'It must contain only the three parts of one API key, joined by colons.';
    return { ok: false, message: `${file} does not contain a MAAS API key`, hint };
  }
  return { ok: true, key: text };
}
