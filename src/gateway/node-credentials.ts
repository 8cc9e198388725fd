import { createPrivateKey, createPublicKey } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { EnrolmentTicket } from '../agent/onboarding/enrolment-ticket.ts';
import { PrivateFileError, readPrivate, writePrivate } from '../platform/files/private-file.ts';
import { GatewayConnection, type OpenTransport } from './gateway-connection.ts';
import { newKeyPair, privateKeyPem, renewalTime } from './identity/key-pair.ts';
import { enrolmentAnswer, orderKeysAnswer } from './wire.ts';

const credentialsSchema = enrolmentAnswer.extend({ gateway: z.string(), key: z.string() });

/** A node's identity: its key, its certificate, and the authorities it trusts. */
export type NodeCredentials = z.output<typeof credentialsSchema>;

const fileOf = (folder: string) => join(folder, 'credentials.json');
const enrolmentKeyOf = (folder: string) => join(folder, 'enrolment-key.pem');

/**
 * Deletes the key of an enrolment, once its ticket is gone for good: with a ticket that a power cut brings back, the node must
 * be able to ask again with the same key. The credentials have the key, too.
 */
export const forgetEnrolment = (folder: string): void => rmSync(enrolmentKeyOf(folder), { force: true });

/** @throws PrivateFileError */
export function readCredentials(folder: string): NodeCredentials | undefined {
  const text = readPrivate(fileOf(folder));
  if (text === undefined) return undefined;
  try {
    return credentialsSchema.parse(JSON.parse(text));
  } catch {
    throw new PrivateFileError(`${fileOf(folder)} contains no credentials; enrol the node again`);
  }
}

/**
 * Exchanges a token for credentials, stored in a folder that only its owner can read. The key is created here and never
 * leaves. It is written before the token is used, so that enrolment can be retried after a lost answer.
 */
export async function enrolNode(
  folder: string,
  ticket: EnrolmentTicket,
  open?: OpenTransport,
): Promise<NodeCredentials> {
  const { gateway, authority, token } = ticket;
  const keyFile = enrolmentKeyOf(folder);
  let key = readPrivate(keyFile);
  if (key === undefined) {
    key = privateKeyPem(newKeyPair().privateKey);
    writePrivate(keyFile, key);
  }
  const request = await requestFor(key, 'node');
  const answer = await once(new GatewayConnection({ url: gateway, authority }, undefined, open), (connection) =>
    connection.ask('/v1/enrol', { json: { token, request } }, enrolmentAnswer),
  );
  return kept(folder, { ...answer, gateway, key });
}

/** When the credentials should be renewed. */
export const renewalDue = (credentials: NodeCredentials): Date => renewalTime(credentials.certificate);

/** Gets a new key and certificate with the old ones. A failed write changes nothing. */
export async function renewCredentials(
  folder: string,
  credentials: NodeCredentials,
  open?: OpenTransport,
): Promise<NodeCredentials> {
  const key = privateKeyPem(newKeyPair().privateKey);
  const request = await requestFor(key, `${credentials.site}/${credentials.node}`);
  const answer = await once(connectionOf(credentials, open), (connection) =>
    connection.ask('/v1/renew', { json: { request } }, enrolmentAnswer),
  );
  return kept(folder, { ...answer, gateway: credentials.gateway, key });
}

/** Fetches the current order keys, and pins them. */
export async function renewOrderKeys(
  folder: string,
  credentials: NodeCredentials,
  open?: OpenTransport,
): Promise<NodeCredentials> {
  const keys = await once(connectionOf(credentials, open), (connection) =>
    connection.ask('/v1/order-keys', undefined, orderKeysAnswer),
  );
  return kept(folder, { ...credentials, ...keys });
}

async function once<Answer>(
  connection: GatewayConnection,
  ask: (connection: GatewayConnection) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask(connection);
  } finally {
    await connection.close();
  }
}

export const connectionOf = (
  { gateway, authority, key, certificate }: NodeCredentials,
  open?: OpenTransport,
): GatewayConnection => new GatewayConnection({ url: gateway, authority }, { key, certificate }, open);

async function requestFor(key: string, name: string): Promise<string> {
  const { createCertificateRequest } = await import('./identity/certificate-request.ts');
  const privateKey = createPrivateKey(key);
  return createCertificateRequest({ privateKey, publicKey: createPublicKey(key) }, name);
}

function kept(folder: string, credentials: NodeCredentials): NodeCredentials {
  writePrivate(fileOf(folder), `${JSON.stringify(credentials, null, 2)}\n`);
  return credentials;
}
