import { CALLBACK_PATH } from '../../src/api/access/sign-in-routes.ts';
import type { ApiOptions } from '../../src/api/index.ts';
import { SetupError } from '../../src/core/problems/refusal.ts';
import { withoutEnd } from '../../src/core/text/text.ts';
import { signIn } from '../../src/ops/index.ts';
import { readSettingFile } from '../../src/platform/files/setting-file.ts';
import { openIdProvider } from '../../src/platform/openid/openid-provider.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';

/** Sign-in through the configured OpenID provider; undefined if there is none. It is not asked before the first sign-in. */
export function openIdOf({ access: { openid, tokens } }: Pick<Settings, 'access'>): ApiOptions['openId'] {
  const { issuer, client_id: clientId, client_secret_file: secretFile, page_url } = openid;
  if (issuer === undefined || clientId === undefined || page_url === undefined) return undefined;
  if (tokens === 'off')
    throw new SetupError('settings', 'access.openid is set, but access.tokens is off: no one would need to sign in');
  const pageUrl = withoutEnd(page_url, '/');
  const provider = openIdProvider({
    issuer,
    clientId,
    ...(secretFile === undefined
      ? {}
      : { clientSecret: readSettingFile('access.openid.client_secret_file', secretFile).toString('utf8').trim() }),
    scopes: openid.scopes,
    redirectUrl: `${pageUrl}${CALLBACK_PATH}`,
  });
  const rules = {
    nameClaim: openid.name_claim,
    rolesClaim: openid.roles_claim,
    unstatedAddress: openid.unstated_address,
    values: { viewer: listOf(openid.viewers), operator: listOf(openid.operators), admin: listOf(openid.admins) },
  };
  return { signIn: signIn(provider, rules), pageUrl, sessionHours: openid.session_hours };
}

const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
