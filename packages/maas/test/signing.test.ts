import OAuth from 'oauth-1.0a';
import { describe, expect, it } from 'vitest';
import { MaasConfigurationError, parseApiKey } from '../src/api-key.ts';
import { maasApiRoot } from '../src/connection.ts';
import { oauthHeader } from '../src/oauth-header.ts';

const members = (header: string) => {
  const found = [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
  return Object.fromEntries(found);
};

describe('OAuth header', () => {
  it.each(['consumerkeyadmin01:tokenkeyadmin00001:tokensecretadmin0000000000000001', "c!*'():t~-._:s%&+/="])(
    '(1) agrees member by member with the oauth-1.0a package for %s',
    (text) => {
      const key = parseApiKey(text);
      const oracle = new OAuth({
        consumer: { key: key.consumerKey, secret: '' },
        signature_method: 'PLAINTEXT',
        hash_function: (_base, signingKey) => signingKey,
      });
      const token = { key: key.tokenKey, secret: key.tokenSecret };
      const authorized = oracle.authorize({ url: 'http://maas/MAAS/api/2.0/machines/', method: 'GET' }, token);
      const expected = members(oracle.toHeader(authorized).Authorization);
      const ours = oauthHeader(key, authorized.oauth_nonce, authorized.oauth_timestamp);
      expect(members(ours)).toEqual(expected);
    },
  );

  it('(1) has exactly the members MAAS wants, each in double quotes, with %26 before the secret', () => {
    const header = oauthHeader({ consumerKey: 'ck', tokenKey: 'tk', tokenSecret: 'ts' }, 'n1', 1_795_267_240);
    expect(header).toBe(
      'OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="ck", oauth_token="tk", ' +
        'oauth_signature="%26ts", oauth_nonce="n1", oauth_timestamp="1795267240"',
    );
  });
});

describe('API key', () => {
  it('(1) is taken apart, blanks around it dropped', () => {
    expect(parseApiKey(' a:b:c\n')).toEqual({ consumerKey: 'a', tokenKey: 'b', tokenSecret: 'c' });
  });

  it.each(['', 'a', 'a:b', 'a:b:c:d', 'a::c', ':b:c', 'a:b:', 'a b:c:d', 'a:"b:c', 'a:b:c\nd', 'ä:b:c'])(
    '(1, 2) %j is refused before anything is sent, and not repeated in the message',
    (text) => {
      let error: unknown;
      try {
        parseApiKey(text);
      } catch (caught) {
        error = caught;
      }
      expect(error).toBeInstanceOf(MaasConfigurationError);
      if (text.length > 3) expect((error as Error).message).not.toContain(text);
    },
  );
});

describe('base URL', () => {
  const root = 'http://10.0.0.1:5240/MAAS/api/2.0/';
  it.each([
    ['http://10.0.0.1:5240/MAAS', root],
    ['http://10.0.0.1:5240/MAAS/', root],
    ['http://10.0.0.1:5240', root],
    ['http://10.0.0.1:5240/', root],
    [' http://10.0.0.1:5240/MAAS/api/2.0 ', root],
    ['http://10.0.0.1:5240/MAAS/api/2.0/', root],
    ['http://10.0.0.1:5240/MAAS/api/', root],
    ['http://10.0.0.1:5240//MAAS//', root],
    ['http://10.0.0.1:5240/api/2.0/', root],
    ['https://maas.example:5443/MAAS', 'https://maas.example:5443/MAAS/api/2.0/'],
    ['https://proxy.example/infra/MAAS/', 'https://proxy.example/infra/MAAS/api/2.0/'],
    ['http://[fd00::1]:5240/MAAS', 'http://[fd00::1]:5240/MAAS/api/2.0/'],
  ])('(3) %s leads to %s', (given, expected) => {
    expect(maasApiRoot(given)).toBe(expected);
  });

  it.each([
    '',
    'maas',
    'maas.example:5240/MAAS',
    'ftp://maas/MAAS',
    'http://u:p@maas/MAAS',
    'http://maas/MAAS?x=1',
    'http://maas/MAAS#x',
  ])('(3) %j is refused with an example of what it should be', (given) => {
    expect(() => maasApiRoot(given)).toThrow(/should look like http:/);
  });
});
