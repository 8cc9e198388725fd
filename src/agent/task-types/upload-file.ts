import { uploadFile as type } from '../../core/task-types/files.ts';
import { runner } from '../task-runner.ts';
import { frameOf, placeInOrder, type UploadedFile } from './placed-file.ts';

type Parameters = ReturnType<typeof type.prepare>['parameters'];

const fileOf = (p: Parameters): UploadedFile => ({ ...frameOf(p.path, p, p), data: p.data });

/** Places one file with the given content. */
export const uploadFile = runner(type, {
  run: (p, context) => placeInOrder([fileOf(p)], context),
});
