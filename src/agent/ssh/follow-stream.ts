/** The stream of a following connection; see `followScript`. */
type RemoteEvent =
  | { readonly kind: 'beat' }
  | { readonly kind: 'output'; readonly stream: 'stdout' | 'stderr'; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'ended'; readonly record: string }
  | { readonly kind: 'unknown' };

const LONGEST_LINE = 100;

/** Reads lines and the bytes they announce. Skips a truncated piece: the next connection sends it whole. */
export async function* readEvents(source: AsyncIterable<Buffer>): AsyncGenerator<RemoteEvent, void, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const more of source) {
    rest = Buffer.concat([rest, more]);
    for (;;) {
      const end = rest.indexOf(10);
      if (end < 0) {
        if (rest.length > LONGEST_LINE) throw new Error('the node sent an unknown line');
        break;
      }
      const line = rest.subarray(0, end).toString('latin1');
      const [word, ...numbers] = line.split(' ');
      const length = word === 'O' || word === 'E' || word === 'X' ? Number(numbers.at(-1)) : 0;
      if (!Number.isSafeInteger(length) || !/^[OEXSN]$/.test(word ?? ''))
        throw new Error(`the node sent an unknown line: ${line.slice(0, LONGEST_LINE)}`);
      if (rest.length < end + 1 + length) break;
      const bytes = rest.subarray(end + 1, end + 1 + length);
      rest = rest.subarray(end + 1 + length);
      if (word === 'S') yield { kind: 'beat' };
      else if (word === 'N') yield { kind: 'unknown' };
      else if (word === 'X') yield { kind: 'ended', record: bytes.toString('utf8') };
      else yield { kind: 'output', stream: word === 'O' ? 'stdout' : 'stderr', offset: Number(numbers[0]), bytes };
    }
  }
}
