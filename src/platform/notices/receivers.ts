import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { isError } from '../../core/problems/diagnostic.ts';
import { NOTICE_EVENTS, NOTICE_FORMATS } from '../../core/words.ts';
import { checkSchema, DOCUMENT_WORDS, parseYaml } from '../../documents/index.ts';

/** Events that a receiver can ask for. */
const EVENTS = NOTICE_EVENTS.filter((event) => event !== 'test');

const receiver = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must have lower-case letters, digits, dot, underscore, hyphen'),
  url: z.url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' }),
  secret: z
    .string()
    .regex(/^.{16,}$/s, 'must have at least 16 characters')
    .optional(),
  events: z.array(z.enum(EVENTS)).min(1).default(EVENTS),
  sites: z.array(z.string().min(1)).min(1).optional(),
  format: z.enum(NOTICE_FORMATS).default('json'),
});

const file = z.strictObject({ receivers: z.array(receiver).max(100) }).superRefine(({ receivers }, context) => {
  const names = receivers.map(({ name }) => name);
  names.forEach((name, at) => {
    if (names.indexOf(name) < at)
      context.addIssue({ code: 'custom', path: ['receivers', at, 'name'], message: `names ${name} twice` });
  });
});

/** Where notices are sent. URL and secret are shown nowhere. */
export type Receiver = z.output<typeof receiver>;

/** The file of receivers cannot be used; the message names every problem with its place. */
export class ReceiversError extends Error {}

/** Reads the file each time: a change needs no restart. @throws ReceiversError */
export async function readReceivers(path: string): Promise<readonly Receiver[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ReceiversError(`the file of notices.receivers_file cannot be read (${error.code ?? 'unknown error'})`);
  });
  const { documents, diagnostics } = parseYaml(text, { file: path });
  const [document] = documents;
  const broken = diagnostics.filter(isError).map(({ message, line }) => `line ${line ?? '?'}: ${message}`);
  const read = checkSchema(file, document?.value, { words: { ...DOCUMENT_WORDS, showsValues: false } });
  if (broken.length === 0 && read.ok) return read.value.receivers;
  const problems = read.ok ? [] : read.problems.map(({ message }) => message);
  throw new ReceiversError(`notices.receivers_file: ${[...broken, ...problems].join('; ')}`);
}

/** Scheme and host: the rest of a webhook's address often is its secret. */
export const addressOf = ({ url }: Receiver): string => new URL(url).origin;
