/** Quotes text as one word for `sh`. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
