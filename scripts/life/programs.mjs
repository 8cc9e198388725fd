// The programs that the tutorial's commands call, so that each ends with the shell that it is typed into.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @param {string} path variable with the program's path */
const tied = (path) => `#!/usr/bin/env -S setpriv --pdeathsig TERM bash
exec "$${path}" "$@"
`;

/**
 * While a server is unreachable, a person waits and types the command again.
 *
 * @param {string} path variable with the program's path
 * @param {string} isAway condition on `code` and `errors` in bash
 */
const patient = (path, isAway) => `#!/usr/bin/env -S setpriv --pdeathsig KILL bash
for tries in $(seq 40); do
  { errors=$(setpriv --pdeathsig TERM "$${path}" "$@" 2>&1 >&3); code=$?; } 3>&1
  [ -z "$errors" ] || printf '%s\\n' "$errors" >&2
  # A conflict with what an earlier try did, whose answer was lost.
  if [ $tries -gt 1 ] && [ $code -eq 4 ] && [[ " $* " != *' --wait '* ]]; then code=0; fi
  ${isAway} || break
  echo 'typed again' >&2
  sleep 1
done
exit $code
`;

/**
 * @param {string} folder for PATH
 * @param {boolean} withPatience
 */
export async function placePrograms(folder, withPatience) {
  await mkdir(folder);
  const unavailable = 'unavailable|connection refused|deadline exceeded|failed reaching server';
  const programs = {
    sitewright: withPatience ? patient('SITEWRIGHT', '[ $code -eq 5 ]') : tied('SITEWRIGHT'),
    temporal: withPatience
      ? patient('TEMPORAL_CLI', `[ $code -ne 0 ] && grep -qiE '${unavailable}' <<<"$errors"`)
      : tied('TEMPORAL_CLI'),
  };
  for (const [name, text] of Object.entries(programs)) await writeFile(join(folder, name), text, { mode: 0o755 });
}
