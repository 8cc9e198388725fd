import * as files from '../../core/task-types/files.ts';
import { describeFailure } from '../journal/result.ts';
import { frameOf, place, placeInOrder, STOPPED, type UploadedFile } from './placed-file.ts';
import { runner } from './task-runner.ts';

/** Places files whose content is read on the machine that has the sources. Tries all files, once. */
export const copyFiles = runner(files.copyFiles, {
  run: async (p, context) => {
    const failed: { path: string; reason: string }[] = [];
    let changed = false;
    for (const file of p.files) {
      if (context.stop.aborted) return { ...STOPPED, changed };
      const data = context.source(file.src);
      const end = Buffer.isBuffer(data) ? await place(frameOf(file.dst, file, p), data, context) : { failure: data };
      if ('failure' in end) {
        const path = Buffer.isBuffer(data) ? file.dst : file.src;
        failed.push({ path, reason: describeFailure(end.failure) });
        context.print(`failed: ${path}`);
      } else changed ||= end.changed;
    }
    const summary = { files: p.files.length, failed: failed.length };
    if (failed.length === 0) return { failure: null, changed, summary };
    return { failure: { kind: 'files', files: failed.slice(0, 20) }, changed, summary };
  },
});

type UploadedOne = ReturnType<typeof files.uploadFile.prepare>['parameters'];

const fileOf = (p: UploadedOne): UploadedFile => ({ ...frameOf(p.path, p, p), data: p.data });

/** Places one file with the given content. */
export const uploadFile = runner(files.uploadFile, {
  run: (p, context) => placeInOrder([fileOf(p)], context),
});

type UploadedMany = ReturnType<typeof files.uploadFiles.prepare>['parameters'];

const filesOf = (p: UploadedMany): UploadedFile[] =>
  p.nodes.flatMap((node) => node.files.map((file) => ({ ...frameOf(file.dst, file, p), data: file.data })));

/** Places the files meant for this node. */
export const uploadFiles = runner(files.uploadFiles, {
  run: (p, context) => placeInOrder(filesOf(p), context),
});
