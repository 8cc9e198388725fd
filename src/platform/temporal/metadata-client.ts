import { type Client, WorkflowClient } from '@temporalio/client';
import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';

/**
 * In a query of Temporal's lists: executions that may still act. Those that Temporal has paused are not `Running`, and `Paused` is a word
 * that servers before 1.30 refuse.
 */
export const OPEN = 'CloseTime IS NULL';

const known = new WeakMap<Client, WorkflowClient>();

/**
 * A client to describe and list executions. A namespace may have runs whose memos this process cannot decode: of another
 * installation that encrypts them, or from before a key was lost. Such memos read as null; the SDK would fail the whole list.
 */
export function metadataClient(client: Client): WorkflowClient {
  const made = known.get(client);
  if (made !== undefined) return made;
  const { connection, options } = client;
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  const decodes = (payload: Payload): boolean => {
    try {
      payloadConverter.fromPayload(payload);
      return true;
    } catch {
      return false;
    }
  };
  const reading = new WorkflowClient({
    connection,
    namespace: options.namespace,
    dataConverter: { payloadCodecs: [orNull(payloadCodecs, decodes)] },
  });
  known.set(client, reading);
  return reading;
}

function orNull(codecs: readonly PayloadCodec[], decodes: (payload: Payload) => boolean): PayloadCodec {
  const nothing: Payload = { metadata: { [METADATA_ENCODING_KEY]: Buffer.from('binary/null') } };
  const decode = async (payload: Payload): Promise<Payload> => {
    let decoded = payload;
    for (const codec of [...codecs].reverse()) decoded = (await codec.decode([decoded]))[0] ?? nothing;
    return decodes(decoded) ? decoded : nothing;
  };
  return {
    encode: async (payloads) => payloads,
    decode: (payloads) => Promise.all(payloads.map((payload) => decode(payload).catch(() => nothing))),
  };
}
