const NAMES: ReadonlySet<string> = new Set(['PATH', 'HOME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR']);

/**
 * The environment of a supervisor: where programs and the home folder are, language, time zone and folder for temporary
 * files. Nothing else of the agent's: a task may read it as `/proc/PID/environ`, and a service's environment has secrets.
 */
export const supervisorEnvironment = (own: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(own).filter(([name]) => NAMES.has(name) || name.startsWith('LC_')));
