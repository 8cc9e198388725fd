import type { FastifyReply } from 'fastify';

/** Sends a text that is an answer already. */
export const readyText = (reply: FastifyReply, type: string, body: string): FastifyReply => reply.type(type).send(body);

export const JSON_TYPE = 'application/json; charset=utf-8';
