/** `12s`, `2m10s`, `3h05m`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  if (hours > 0) return `${hours}h${two(minutes)}m`;
  return minutes > 0 ? `${minutes}m${two(rest)}s` : `${rest}s`;
}

/** Between two moments in ISO 8601; empty when one is not known. */
export function formatSpan(start: string | null | undefined, end: string | null | undefined): string {
  return start && end ? formatDuration(Date.parse(end) - Date.parse(start)) : '';
}
