import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as words from '../../core/words.js';

/** A file of the web page, as it is sent. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** Changes with the content. */
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Libraries of the page as they come: the browser finds them by the import map of index.html. */
const LIBRARIES: Readonly<Record<string, string>> = {
  'preact.mjs': 'preact',
  'hooks.mjs': 'preact/hooks',
  'htm.mjs': 'htm',
  'signals.mjs': '@preact/signals',
  'signals-core.mjs': '@preact/signals-core',
};

/** All files of the page by their path below `/assets`, and `index.html`. They are few and small: memory holds them. */
export function loadAssets(): ReadonlyMap<string, Asset> {
  const folder = fileURLToPath(new URL('../../ui/assets/', import.meta.url));
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => typeOf(path) !== undefined)
    .map((path) => [path, assetOf(path, readFileSync(join(folder, path)))] as const);
  const libraries = Object.entries(LIBRARIES).map(
    ([file, name]) => [`lib/${file}`, assetOf(file, readFileSync(fileURLToPath(import.meta.resolve(name))))] as const,
  );
  return new Map([...own, ...libraries, ['lib/core-words.mjs', assetOf('core-words.mjs', coreWords())]]);
}

/** The closed lists of words of the core, for the page to import. */
function coreWords(): Buffer {
  const lists = Object.entries(words).map(([name, list]) => `export const ${name} = ${JSON.stringify(list)};\n`);
  return Buffer.from(lists.join(''));
}

/** The policy under which a browser runs the page: nothing but what comes from here, no code but its files. */
export function contentSecurityPolicy(html: string): string {
  const inline = [...html.matchAll(/<script type="importmap">([\s\S]*?)<\/script>/g)].map(
    ([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(' ')}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const typeOf = (path: string): string | undefined => TYPES[path.slice(path.lastIndexOf('.') + 1)];

function assetOf(path: string, body: Buffer): Asset {
  // Maps of the libraries are not served.
  const text = /\.m?js$/.test(path)
    ? Buffer.from(body.toString('utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
    : body;
  return {
    type: typeOf(path)!,
    body: text,
    etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 24)}"`,
  };
}
