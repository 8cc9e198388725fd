/** Exit codes of Sitewright's own scripts, which other programs do not use. */
export const REFUSED_PATH = 240;
export const MISSING_PROGRAM = 241;
export const BUSY = 242;
export const MISSING_FOLDER = 243;
export const FILES_FAILED = 244;
