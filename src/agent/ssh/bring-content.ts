import { createHash } from 'node:crypto';
import { shellWord } from '../../core/text/text.ts';
import { whole } from '../onboarding/ssh-command.ts';
import { chooseContent } from './place-over-ssh.ts';

/** A file whose content a task needs on its node. */
export interface NeededFile {
  /** Where it goes; the content may be there already. */
  readonly path: string;
  readonly sha256: string;
  read(): Promise<Uint8Array>;
}

const PIECE_BYTES = 1 << 20;
const CONNECTION_CHARACTERS = 8 << 20;

/**
 * Brings contents that a node lacks into one of its folders, each under its hash. Content from an interrupted
 * transfer is not sent again. Content that has changed is left out: the task that chooses it then fails.
 */
export async function bringContent(
  files: readonly NeededFile[],
  folder: string,
  run: (script: string) => Promise<string>,
): Promise<void> {
  const words = files.map(({ path, sha256 }, at) => `choose ${sha256} ${shellWord(path)} || echo ${at}`);
  const lacking = await run(whole(`${chooseContent(folder)}${words.join('\n')}`));
  const into = `set -e\numask 077\nmkdir -p ${shellWord(folder)}\ncd ${shellWord(folder)}\n`;
  let script = into;
  try {
    for (const at of lacking.split('\n').filter(Boolean)) {
      const { sha256, read } = files[Number(at)]!;
      const content = Buffer.from(await read());
      if (createHash('sha256').update(content).digest('hex') !== sha256) continue;
      script += `: >${sha256}.part\n`;
      for (let from = 0; from < content.length; from += PIECE_BYTES) {
        const piece = content.subarray(from, from + PIECE_BYTES).toString('base64');
        script += `printf %s ${piece} | base64 -d >>${sha256}.part\n`;
        if (script.length < CONNECTION_CHARACTERS) continue;
        await run(whole(script));
        script = into;
      }
      script += `mv ${sha256}.part ${sha256}\n`;
    }
  } finally {
    // Also content read before the source became unavailable.
    if (script !== into) await run(whole(script));
  }
}
