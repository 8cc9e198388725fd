/** Drydock's mark of links, interfaces and networks that it neither reads nor changes, whatever its value. */
export const isLeftAlone = (labels: Readonly<Record<string, unknown>> | undefined): boolean =>
  labels !== undefined && Object.hasOwn(labels, 'noconfig');
