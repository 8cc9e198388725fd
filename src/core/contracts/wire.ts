import { z } from 'zod';

type Plain = string | number | boolean | null | undefined;

/** The same value, read-only through and through; what is optional is absent, never `undefined`. */
type Exact<T> = unknown extends T
  ? T
  : T extends Plain
    ? T
    : { readonly [K in keyof T]: Exact<Exclude<T[K], undefined>> };

/** The type of what a schema describes, as it crosses a border: all our types of wire shapes are made by it. */
export type Wire<S extends z.ZodType> = Exact<z.output<S>>;

/** The same before defaults and conversions: what a caller writes. */
export type Sent<S extends z.ZodType> = Exact<z.input<S>>;

/**
 * A union of failures, each with the fields of its `kind`. It is declared beside its behaviour; to others it is open: they
 * are promised the kind, and read the sentence beside it.
 */
export const failureOf = <F extends { readonly kind: string }>(): z.ZodType<F, F> =>
  z.looseObject({ kind: z.string() }).describe('Its kind, and the fields of that kind.') as unknown as z.ZodType<F, F>;
