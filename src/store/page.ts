/** Which part of a list to return. Lists are newest first unless documented otherwise. */
export interface PageRequest {
  /** 1 to 1,000; default 50. */
  readonly limit?: number;
  /** `next` of the page before; absent for the first page. */
  readonly before?: string;
}

/** Part of a list. Additions while a reader pages never shift later pages. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; pass it back as `before`. Null on the last page. */
  readonly next: string | null;
}

/** Plain JSON, as it goes to and comes from the database. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object, read from the database. */
export type JsonObject = { readonly [key: string]: Json };

/** A JSON object to store: anything that cannot be written as JSON is refused as `invalid`. */
export type JsonFields = Readonly<Record<string, unknown>>;
