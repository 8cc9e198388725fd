import { isObject } from '@sitewright/maas/json';
/** Names with their values in order; a repeated name is a list. */
export class Form {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(pairs: Iterable<readonly [string, string]> = []) {
    const values = new Map<string, string[]>();
    for (const [name, value] of pairs) {
      const known = values.get(name);
      if (known) known.push(value);
      else values.set(name, [value]);
    }
    this.#values = values;
  }

  get names(): string[] {
    return [...this.#values.keys()];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The last value, as in Django. */
  get(name: string): string | null {
    return this.#values.get(name)?.at(-1) ?? null;
  }

  /** The last value, or null when it is absent or empty. */
  text(name: string): string | null {
    const value = this.get(name);
    return value === null || value === '' ? null : value;
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** All values, each split at commas, without empty ones. */
  words(name: string): string[] {
    return this.all(name)
      .flatMap((value) => value.split(','))
      .map((word) => word.trim())
      .filter((word) => word !== '');
  }

  /** MAAS' lax booleans: any value but a spelled-out no is true. */
  flag(name: string): boolean {
    const value = this.text(name);
    return value !== null && !['false', '0', 'no', 'off', 'n', 'f', 'none'].includes(value.toLowerCase());
  }

  entries(): [string, readonly string[]][] {
    return [...this.#values.entries()];
  }
}

/** A body for the handlers. */
interface Body {
  readonly form: Form;
  /** True for a JSON body, on which some handlers of MAAS fail. */
  readonly isJson: boolean;
}

function jsonPairs(value: unknown): [string, string][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]): [string, string][] => {
    const items: readonly unknown[] = Array.isArray(field) ? field : [field];
    return items
      .filter((item) => item !== null)
      .map((item): [string, string] => [name, typeof item === 'string' ? item : JSON.stringify(item)]);
  });
}

function nameIn(head: string): string | undefined {
  const line = head.split('\n').find((one) => /^content-disposition:/i.test(one));
  return /[;\s]name="([^"]*)"/i.exec(line ?? '')?.[1];
}

function multipartPairs(body: string, boundary: string): [string, string][] {
  const pairs: [string, string][] = [];
  for (const part of body.split(`--${boundary}`).slice(1)) {
    if (part.startsWith('--')) break;
    const split = /\r?\n\r?\n/.exec(part);
    if (!split) continue;
    const head = part.slice(0, split.index);
    const name = nameIn(head);
    if (name === undefined) continue;
    const value = part.slice(split.index + split[0].length).replace(/\r?\n$/, '');
    // drydock sends each part in base64.
    const isBase64 = /content-transfer-encoding:\s*base64/i.test(head);
    pairs.push([name, isBase64 ? Buffer.from(value, 'base64').toString('utf8') : value]);
  }
  return pairs;
}

/** Reads a body by its content type. As in MAAS, a body of an unknown type counts as empty. */
export function readBody(contentType: string, body: string): Body {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json') {
    try {
      return { form: new Form(jsonPairs(JSON.parse(body))), isJson: true };
    } catch {
      return { form: new Form(), isJson: true };
    }
  }
  if (type === 'multipart/form-data') {
    const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
    return { form: new Form(boundary === undefined ? [] : multipartPairs(body, boundary)), isJson: false };
  }
  if (type === 'application/x-www-form-urlencoded') {
    return { form: new Form(new URLSearchParams(body)), isJson: false };
  }
  return { form: new Form(), isJson: false };
}
