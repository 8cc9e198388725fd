/** An event as it is sent, of any stream. */
export interface SentEvent {
  readonly event: string;
  readonly data: unknown;
  /** Where to go on from; NaN where the stream has no places. */
  readonly id: number;
}

/** The events of an answer, until it ends. Not by EventSource, which does not report refusals. */
export async function* eventsOf({ body }: Response): AsyncGenerator<SentEvent> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      const id = /^id: (.*)$/m.exec(block)?.[1];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data), id: Number(id) };
    }
  }
}
