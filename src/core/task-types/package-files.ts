import { parsePackageSource } from '../sources/folder-manifest.ts';
import { amount, count, path, text } from './parameter.ts';
import { taskType } from './task-type.ts';

export const packageFiles = taskType('package_files', {
  over: ['agent'],
  does: `Makes a folder equal to a folder of an installed package: places new and changed files, and deletes extra ones.
Plans add it before the first task of a plugin or release on a node. Only files that differ are transferred, and an
interrupted transfer continues.`,
  parameters: {
    src: text('`package:NAME==VERSION/FOLDER`', undefined, (value, place) => {
      const source = parsePackageSource(value);
      if (source === undefined || source.file !== undefined)
        place.wrong('src is not a folder of a package', 'Use package:NAME==VERSION/FOLDER.');
    }),
    digest: text('SHA-256 of the list of its files', undefined, (value, place) => {
      if (!/^[0-9a-f]{64}$/.test(value)) place.wrong('digest is not a SHA-256', 'Use 64 hexadecimal digits.');
    }),
    dst: path('folder under an allowed root'),
    timeout: amount('seconds for all tries together', 3600),
    retries: count('further tries, 5 s apart', 3),
  },
  limits: ({ timeout, retries }) => ({ timeoutSec: timeout, retries, intervalSec: 5, killGraceSec: 0 }),
  inputs: ({ src, digest, dst }) => [{ kind: 'folder', path: src, digest, dst }],
  examples: [
    {
      parameters: {
        src: 'package:example==1.0.0/scripts',
        digest: '884899dea07c90de3d68aa00426823a9a1edc2aae601f1486dbf9993b6100c68',
        dst: '/srv/example/scripts',
      },
      result: { outcome: 'success', changed: true, summary: { files: 1, placed: 1, deleted: 0 } },
    },
  ],
});
