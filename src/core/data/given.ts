type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that have a value, to be spread where an absent field must not be there as undefined. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  const found: Given<Fields> = {};
  for (const name in fields)
    if (fields[name] !== undefined) found[name] = fields[name] as Exclude<Fields[typeof name], undefined>;
  return found;
}
