import type { OutputRecord } from '../journal/result.ts';
import { OutputOrder } from './ordered-output.ts';
import { OUTPUT_STREAMS, type OutputStream, SegmentedOutput } from './output-segments.ts';
import { Scrubber } from './scrubber.ts';

/** Stores both output streams of a task in the journal's folder, with the order of their pieces and without its secrets. */
export class CapturedOutput {
  readonly #files: Readonly<Record<OutputStream, SegmentedOutput>>;
  readonly #order: OutputOrder;
  readonly #scrubbers: Readonly<Record<OutputStream, Scrubber>>;

  constructor(folder: string, limitBytes: number | undefined, secrets: readonly string[]) {
    this.#order = new OutputOrder(folder);
    this.#files = {
      stdout: new SegmentedOutput(folder, 'stdout', limitBytes),
      stderr: new SegmentedOutput(folder, 'stderr', limitBytes),
    };
    this.#scrubbers = { stdout: new Scrubber(secrets), stderr: new Scrubber(secrets) };
  }

  write(stream: OutputStream, chunk: Buffer): void {
    this.#pass(stream, this.#scrubbers[stream].push(chunk));
  }

  /** Writes the held-back output. */
  flush(): void {
    for (const stream of OUTPUT_STREAMS) this.#pass(stream, this.#scrubbers[stream].flush());
  }

  #pass(stream: OutputStream, bytes: Buffer): void {
    if (bytes.length === 0) return;
    const file = this.#files[stream];
    this.#order.beforeWrite(stream, file.bytes, bytes.length);
    file.write(bytes);
  }

  end(): Record<OutputStream, OutputRecord> {
    this.flush();
    return { stdout: this.#files.stdout.end(), stderr: this.#files.stderr.end() };
  }
}
