import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseStoreUrl, StoreError } from '../../../src/store/index.ts';
import { redact } from '../../../src/store/store-url.ts';

describe('parseStoreUrl', () => {
  it.each([
    ['sqlite:/var/lib/s.db', '/var/lib/s.db'],
    ['sqlite:///var/lib/a%20b.db', '/var/lib/a b.db'],
    ['SQLITE:/x.db', '/x.db'],
    ['sqlite:data/s.db', resolve('data/s.db')],
    ['data/s.db', resolve('data/s.db')],
    ['./a:b.db', resolve('a:b.db')],
    ['~/s.db', `${homedir()}/s.db`],
    ['/a/~/s.db', '/a/~/s.db'],
  ])('reads %s as a file', (text, file) => {
    expect(parseStoreUrl(text)).toEqual({ dialect: 'sqlite', file, shown: `sqlite:${file}` });
  });

  it.each(['sqlite::memory:', ':memory:'])('reads %s as memory', (text) => {
    expect(parseStoreUrl(text)).toMatchObject({ dialect: 'sqlite', file: ':memory:' });
  });

  it.each([
    ['postgres://u:pass@h:5433/d', 'postgres://u:***@h:5433/d'],
    ['postgresql://u:p%40ss@h/d?sslmode=require', 'postgresql://u:***@h/d?sslmode=require'],
    ['postgres://h/d', 'postgres://h/d'],
    ['postgres://u@h/d', 'postgres://u@h/d'],
    ['postgres://u:pw@/d?host=/run/pg', 'postgres://u:***@/d?host=/run/pg'],
    ['postgres://h/d?user=u&password=pw1', 'postgres://h/d?user=u&password=***'],
  ])('reads %s, and shows no password', (text, shown) => {
    expect(parseStoreUrl(text)).toMatchObject({ dialect: 'postgres', url: text, shown });
  });

  it('finds a password in its encoded and decoded form', () => {
    const location = parseStoreUrl('postgres://u:p%40ss@h/d?sslpassword=a%2Fb');
    const secrets = location.dialect === 'postgres' ? location.secrets : [];
    expect(redact('p@ss p%40ss a/b a%2Fb', secrets)).toBe('*** *** *** ***');
  });

  it.each([
    '',
    '   ',
    'sqlite:',
    'sqlite://host/x.db',
    'sqlite:///%zz',
    'mysql://u:s3cret@h/d',
    'http://h',
    'file:/x.db',
    'a\0b',
    'postgres://u:s3cret/x@h/d',
    'postgres://u:s3cret%zz@h/d',
    'postgres://u:s3cret@h:port/d',
  ])('refuses %j with a next step and without a possible password', (text) => {
    let thrown: unknown;
    try {
      parseStoreUrl(text);
    } catch (error) {
      thrown = error;
    }
    if (!(thrown instanceof StoreError)) throw new Error(`accepted, or failed otherwise: ${inspect(thrown)}`);
    expect(thrown.failure).toMatchObject({ kind: 'invalid', problems: [{ path: 'url' }] });
    expect(thrown.failure.hint).not.toBe('');
    expect(inspect(thrown, { depth: 9 })).not.toContain('s3cret');
  });
});
