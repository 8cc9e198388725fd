import { readFileSync } from 'node:fs';

/** Never runs: the bundle test proves that it cannot be bundled. */
export async function reads_a_file(): Promise<string> {
  return readFileSync('/etc/hostname', 'utf8');
}
