/** Which part of a list is wanted. Lists are newest first unless they say otherwise. */
export interface PageRequest {
  /** 1 to 1,000; 50 when absent. */
  readonly limit?: number;
  /** `next` of the page before; absent for the first page. */
  readonly before?: string;
}

/** Part of a list. What is added while a reader pages never shifts the pages still to come. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; hand it back as `before`. Null on the last page. */
  readonly next: string | null;
}

/** Plain JSON, as it goes to and comes from the database. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object, read from the database. */
export type JsonObject = { readonly [key: string]: Json };

/** A JSON object on its way to the database: what cannot be written as JSON is refused as `invalid`. */
export type JsonFields = Readonly<Record<string, unknown>>;
