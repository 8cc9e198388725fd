import type { Payload } from '@temporalio/common';
import protobuf from 'protobufjs';

const { Reader, Writer } = protobuf;

/** Encodes a payload as Temporal's protobuf message (metadata = 1, data = 2), like the codecs of other SDKs. */
export function payloadToBytes({ metadata, data }: Payload): Uint8Array {
  const writer = Writer.create();
  for (const [key, value] of Object.entries(metadata ?? {}))
    writer.uint32(10).fork().uint32(10).string(key).uint32(18).bytes(value).ldelim();
  if (data && data.length > 0) writer.uint32(18).bytes(data);
  return writer.finish();
}

/** The inverse. @throws RangeError for bytes that are not a payload */
export function payloadFromBytes(bytes: Uint8Array): Payload {
  const reader = Reader.create(bytes);
  const metadata: Record<string, Uint8Array> = {};
  let data: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 10) readEntry(Reader.create(reader.bytes()), metadata);
    else if (tag === 18) data = reader.bytes();
    else reader.skipType(tag & 7);
  }
  return { metadata, data };
}

function readEntry(reader: protobuf.Reader, metadata: Record<string, Uint8Array>): void {
  let key = '';
  let value: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 10) key = reader.string();
    else if (tag === 18) value = reader.bytes();
    else reader.skipType(tag & 7);
  }
  metadata[key] = value;
}
