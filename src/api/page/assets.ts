import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { builtFile } from '../../platform/installation.ts';

/** A file of the web page, as it is sent. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  /** Changes with the content. */
  readonly etag: string;
}

const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'editor.js': 'text/javascript; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
} as const;

export type Assets = Readonly<Record<keyof typeof TYPES, Asset>>;

let loaded: Assets | undefined;

/** All files of the page. They are few and small: memory holds them from the first request on. */
export function pageAssets(): Assets {
  loaded ??= loadAssets();
  return loaded;
}

function loadAssets(): Assets {
  const file = (name: keyof Assets): Asset => assetOf(TYPES[name], readFileSync(builtFile(`page/${name}`)));
  return {
    'index.html': file('index.html'),
    'icon.svg': file('icon.svg'),
    'page.css': file('page.css'),
    'page.js': file('page.js'),
    'editor.js': file('editor.js'),
    'live.js': file('live.js'),
  };
}

/** The policy under which a browser runs the page: nothing but resources of this origin, no code but its files. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A file as it is sent, of a type that the browser is told. */
export const assetOf = (type: string, body: Buffer): Asset => ({
  type,
  body,
  gzipped: gzipSync(body, { level: 9 }),
  etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 24)}"`,
});
