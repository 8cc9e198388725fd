import { readFile } from 'node:fs/promises';
import type { Settings } from './settings.js';

/** The key of MAAS, or why there is none. */
export type MaasKey =
  | { readonly ok: true; readonly key: string }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/**
 * Reads the MAAS key at the moment of use, so that a renewed file needs no restart. Messages never
 * hold any part of it.
 */
export async function readMaasKey(settings: Settings): Promise<MaasKey> {
  const { key, key_file: file } = settings.maas;
  if (key !== undefined) return { ok: true, key };
  if (file === undefined) {
    const hint =
      'Set SITEWRIGHT_MAAS_KEY, or maas.key_file to a file that holds it. MAAS shows it under your account, API keys.';
    return { ok: false, message: 'there is no API key of MAAS', hint };
  }
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return {
      ok: false,
      message: `${file} cannot be read (${code})`,
      hint: 'Create it with the API key as its only line, mode 600.',
    };
  }
  if (!/^[^:\s]+:[^:\s]+:[^:\s]+$/.test(text)) {
    const hint = 'It must hold the three parts of one API key, joined by colons, and nothing else.';
    return { ok: false, message: `${file} holds no MAAS API key`, hint };
  }
  return { ok: true, key: text };
}
