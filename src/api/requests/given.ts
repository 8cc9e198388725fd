type Given<T> = { readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** Fields without those that are not given: absent and undefined differ for use cases. */
export const given = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;

/** A flag of a query. */
export const isTrue = (flag: 'true' | 'false' | undefined): boolean | undefined =>
  flag === undefined ? undefined : flag === 'true';
