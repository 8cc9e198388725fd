import { printable } from '../text/control-characters.ts';
import { shellWord } from '../text/text.ts';
import type { NodeQuestion } from './answers.ts';
import type { Check, Probe } from './check.ts';

/** With which exit codes of the script nothing is known: nobody answered in time, or the question could not be asked. */
export const MISSING_ANSWERS: Readonly<Record<Probe['kind'], readonly number[]>> = {
  ...{ http: [3, 124, 126, 127, 137], tcp: [3, 124, 126, 127, 137] },
  ...{ command: [124, 137], graph: [], prometheus: [] },
};

/** A script for a node that asks once. @param question `unknown`: it cannot be asked */
export function askingScript(
  question: NodeQuestion | { readonly kind: 'unknown'; readonly why: string },
  { timeout }: Pick<Check, 'timeout'>,
): string {
  const limited = (script: string): string => `exec timeout -k 5 ${timeout} bash -c ${shellWord(script)}\n`;
  switch (question.kind) {
    case 'command':
      return limited(question.cmd);
    case 'tcp': {
      const host = question.host.replace(/^\[|\]$/g, '');
      return limited(
        `getent ahosts ${shellWord(host)} >/dev/null || { echo "the name cannot be resolved" >&2; exit 3; }\nexec 3<>/dev/tcp/${shellWord(host)}/${question.port}`,
      );
    }
    case 'http': {
      const { url, status, contains } = question;
      const ask = `curl -sS -g --max-time ${timeout} --max-filesize 1048576 -o "$body" -w '%{http_code}' -- ${shellWord(url)}`;
      const found =
        contains === undefined
          ? []
          : [
              `head -c 65536 "$body" | grep -qF -- ${shellWord(contains)} || { echo "HTTP $status, but the answer lacks the text" >&2; exit 1; }`,
            ];
      return limited(
        [
          'body=$(mktemp)',
          `trap 'rm -f "$body"' EXIT`,
          // 7: the connection was refused, which is an answer.
          `status=$(${ask}) || { [ $? = 7 ] && exit 1; exit 3; }`,
          `[ "$status" = ${status} ] || { echo "HTTP $status instead of ${status}" >&2; exit 1; }`,
          ...found,
        ].join('\n'),
      );
    }
    case 'prometheus':
      return 'echo "a worker asks this" >&2; exit 3\n';
    case 'unknown':
      return `echo ${shellWord(printable(question.why))} >&2; exit 124\n`;
  }
}
