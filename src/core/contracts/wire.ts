import { z } from 'zod';

type Plain = string | number | boolean | null | undefined;

/** The same value, deeply read-only; optional fields are absent, never `undefined`. */
type Exact<T> = unknown extends T
  ? T
  : T extends Plain
    ? T
    : { readonly [K in keyof T]: Exact<Exclude<T[K], undefined>> };

/** The wire type of a schema; all our types of wire shapes use it. */
export type Wire<S extends z.core.$ZodType> = Exact<z.output<S>>;

/** The same before defaults and conversions, as a caller writes it. */
export type Sent<S extends z.ZodType> = Exact<z.input<S>>;

/**
 * A union of failures, each with the fields of its `kind`. It is declared with its behaviour; to others it is open: they
 * rely on the kind, and read the sentence.
 */
export const failureOf = <F extends { readonly kind: string }>(): z.ZodType<F, F> =>
  z.looseObject({ kind: z.string() }).describe('Its kind, and the fields of that kind.') as unknown as z.ZodType<F, F>;
