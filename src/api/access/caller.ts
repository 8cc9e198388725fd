import type { FastifyRequest } from 'fastify';

/** Whose budgets and turns a request takes: of a token or session, or of an address without one. */
export const callerOfRequest = ({ principal, ip }: FastifyRequest): string =>
  principal === undefined ? `at ${ip}` : `as ${principal.id}`;
