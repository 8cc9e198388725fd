import type { FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';

/**
 * Writes answers as JSON. The compiler has checked their types already; `check` has the schemas say so too, for tests,
 * where an undeclared or missing field is an error.
 */
export const answerWriter =
  (check: boolean): FastifySerializerCompiler<unknown> =>
  ({ schema, method, url, httpStatus }) => {
    if (!check || !(schema instanceof z.ZodType)) return (data) => JSON.stringify(data);
    return (data) => {
      const text = JSON.stringify(data);
      const result = schema.safeParse(JSON.parse(text));
      if (result.success) return text;
      throw new Error(
        `${method} ${url} ${httpStatus} answers otherwise than it says: ${z.prettifyError(result.error)}`,
      );
    };
  };
