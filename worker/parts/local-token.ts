import { userInfo } from 'node:os';
import type { TokenOperations } from '../../src/ops/index.ts';
import { readPrivate, writePrivate } from '../../src/platform/files/private-file.ts';

/** Who makes it, in lists of tokens. No token of a person's can have this name. */
const MADE_BY = 'api';

/**
 * Keeps an admin token in the file, for the user who runs the API: their processes alone can read it. One that still is
 * valid stays; of those that were made here before, none is valid beside it.
 */
export async function keepLocalToken(file: string, tokens: TokenOperations): Promise<void> {
  const kept = readPrivate(file)?.trim();
  const known = kept ? await tokens.authenticate(kept) : undefined;
  if (known?.ok && known.principal.role === 'admin') return;
  const valid = (await tokens.list()).filter(({ kind, state }) => kind === 'token' && state === 'valid');
  const user = ownName();
  const isOwn = ({ name, created_by }: (typeof valid)[number]) =>
    created_by === MADE_BY && (name === user || name === `${user}@up`);
  for (const { id } of valid.filter(isOwn)) await tokens.revoke(id, MADE_BY);
  const isTaken = valid.some((one) => one.name === user && !isOwn(one));
  const { token } = await tokens.create({ name: isTaken ? `${user}@up` : user, role: 'admin' }, MADE_BY);
  writePrivate(file, `${token}\n`);
}

/** The login name, as a name of a token. */
function ownName(): string {
  try {
    const name = userInfo()
      .username.toLowerCase()
      .replaceAll(/[^a-z0-9._@-]/g, '-')
      .slice(0, 60);
    return /^[a-z0-9]/.test(name) ? name : 'operator';
  } catch {
    // A container may run with a user id that has no name.
    return 'operator';
  }
}
