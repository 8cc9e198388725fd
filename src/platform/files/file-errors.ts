/** Errors of a file itself, which a repetition does not change. Every other error of reading it is an outage. */
const FILE_ERRORS: ReadonlySet<unknown> = new Set([
  'EACCES',
  'EFBIG',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
]);

/** The code of an error that concerns a file itself; undefined for an outage, such as a connection that was refused. */
export function fileErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' && FILE_ERRORS.has(code) ? code : undefined;
}
