import { uploadFiles as type } from '../../core/task-types/files.ts';
import { runner } from '../task-runner.ts';
import { frameOf, placeInOrder, type UploadedFile } from './placed-file.ts';

type Parameters = ReturnType<typeof type.prepare>['parameters'];

const filesOf = (p: Parameters): UploadedFile[] =>
  p.nodes.flatMap(({ files }) => files.map((file) => ({ ...frameOf(file.dst, file, p), data: file.data })));

/** Places the files meant for this node. */
export const uploadFiles = runner(type, {
  run: (p, context) => placeInOrder(filesOf(p), context),
});
