import { readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { newReceiverSchema } from '../../core/contracts/notices.ts';
import type { Wire } from '../../core/contracts/wire.ts';
import { isError } from '../../core/problems/diagnostic.ts';
import { checkSchema, DOCUMENT_WORDS, parseYaml } from '../../documents/index.ts';

const file = z
  .strictObject({ receivers: z.array(newReceiverSchema).max(100) })
  .superRefine(({ receivers }, context) => {
    const names = receivers.map(({ name }) => name);
    names.forEach((name, at) => {
      if (names.indexOf(name) < at)
        context.addIssue({ code: 'custom', path: ['receivers', at, 'name'], message: `names ${name} twice` });
    });
  });

/** Where notices are sent. URL and secret are shown nowhere. */
export type Receiver = Wire<typeof newReceiverSchema>;

/** The file of receivers cannot be used; the message names every problem with its place. */
export class ReceiversError extends Error {}

/** Reads the file each time: a change needs no restart. @throws ReceiversError */
export async function readReceivers(path: string): Promise<readonly Receiver[]> {
  return receiversIn(await textOf(path), path);
}

const textOf = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ReceiversError(`the file of notices.receivers_file cannot be read (${error.code ?? 'unknown error'})`);
  });

function receiversIn(text: string, path: string): readonly Receiver[] {
  const { documents, diagnostics } = parseYaml(text, { file: path });
  const [document] = documents;
  const broken = diagnostics.filter(isError).map(({ message, line }) => `line ${line ?? '?'}: ${message}`);
  const read = checkSchema(file, document?.value, { words: { ...DOCUMENT_WORDS, showsValues: false } });
  if (broken.length === 0 && read.ok) return read.value.receivers as readonly Receiver[];
  const problems = read.ok ? [] : read.problems.map(({ message }) => message);
  throw new ReceiversError(`notices.receivers_file: ${[...broken, ...problems].join('; ')}`);
}

/**
 * Adds a receiver to the file, whose comments stay. The file is replaced as a whole: whoever reads it meanwhile has the old one.
 *
 * @throws ReceiversError that says why not, and what to add by hand
 */
export async function addReceiver(path: string, added: Receiver): Promise<void> {
  const place = await realpath(path).catch(() => path);
  const text = await textOf(place);
  const wanted = JSON.stringify([...receiversIn(text, path), added]);
  const line = `- ${JSON.stringify(added)}`;
  const whole = textsWith(text, line).find((one) => {
    try {
      return JSON.stringify(receiversIn(one, path)) === wanted;
    } catch {
      return false;
    }
  });
  if (whole === undefined)
    throw new ReceiversError(
      'notices.receivers_file is written in a way to which nothing can be added; add it by hand',
    );
  const next = `${place}.${process.pid}.new`;
  try {
    await writeFile(next, whole, { mode: 0o600 });
    await rename(next, place);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ReceiversError(`the file of notices.receivers_file cannot be written (${code}); add it by hand`);
  }
}

/** A file with one more line, as lists are indented there, as JSON, or as the first of an empty list. */
function textsWith(text: string, line: string): string[] {
  const indents = new Set(
    text.split('\n').flatMap((one) => (one.trimStart().startsWith('-') ? [one.length - one.trimStart().length] : [])),
  );
  const after = [...indents].sort((a, b) => a - b).map((indent) => `${text.trimEnd()}\n${' '.repeat(indent)}${line}\n`);
  const first = `${text.replace('[]', '').trimEnd()}\n  ${line}\n`;
  return [...after, ...asJson(text, line), first];
}

function asJson(text: string, line: string): string[] {
  try {
    const { receivers } = JSON.parse(text) as { readonly receivers: readonly unknown[] };
    return [`${JSON.stringify({ receivers: [...receivers, JSON.parse(line.slice(2))] }, null, 2)}\n`];
  } catch {
    return [];
  }
}

/** Scheme and host: the rest of a webhook's address often is its secret. */
export const addressOf = ({ url }: Receiver): string => new URL(url).origin;
