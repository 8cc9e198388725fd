import { OUTPUT_STREAMS, type OutputStream, SegmentedOutput } from './output-segments.ts';
import type { OutputRecord } from './result.ts';
import { Scrubber } from './scrubber.ts';

/** Stores both output streams of a task in the journal's folder, without its secrets. */
export class CapturedOutput {
  readonly #files: Readonly<Record<OutputStream, SegmentedOutput>>;
  readonly #scrubbers: Readonly<Record<OutputStream, Scrubber>>;

  constructor(folder: string, limitBytes: number | undefined, secrets: readonly string[]) {
    this.#files = {
      stdout: new SegmentedOutput(folder, 'stdout', limitBytes),
      stderr: new SegmentedOutput(folder, 'stderr', limitBytes),
    };
    this.#scrubbers = { stdout: new Scrubber(secrets), stderr: new Scrubber(secrets) };
  }

  write(stream: OutputStream, chunk: Buffer): void {
    const passed = this.#scrubbers[stream].push(chunk);
    if (passed.length > 0) this.#files[stream].write(passed);
  }

  /** Writes the held-back output. */
  flush(): void {
    for (const stream of OUTPUT_STREAMS) {
      const rest = this.#scrubbers[stream].flush();
      if (rest.length > 0) this.#files[stream].write(rest);
    }
  }

  end(): Record<OutputStream, OutputRecord> {
    this.flush();
    return { stdout: this.#files.stdout.end(), stderr: this.#files.stderr.end() };
  }
}
