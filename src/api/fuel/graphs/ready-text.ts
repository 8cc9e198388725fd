import type { FastifyReply } from 'fastify';

/** Sends a text that is an answer already: the types of answers are for objects. */
export const readyText = (reply: { type(type: string): unknown }, type: string, body: string): never =>
  (reply as unknown as FastifyReply).type(type).send(body) as never;

export const JSON_TYPE = 'application/json; charset=utf-8';
