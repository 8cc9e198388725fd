import type { TaskType } from '../task-type.js';
import { placeInOrder, readFrame, secretsOf, type UploadedFile, uploadLimits } from './placed-file.js';

interface UploadParameters {
  readonly file: UploadedFile;
  readonly timeout: number;
  readonly retries: number;
}

/** Places one file with the given content. */
export const uploadFile: TaskType<UploadParameters> = {
  name: 'upload_file',
  noop: 'skip',
  read: (parameters) => ({
    file: {
      ...readFrame(parameters, 'path', { permissions: 0o644, dirPermissions: 0o755 }),
      content: parameters.content('data'),
    },
    timeout: parameters.amount('timeout', 60),
    retries: parameters.count('retries', 3),
  }),
  limits: uploadLimits,
  inputs: (p) => secretsOf([p.file]),
  run: (p, context) => placeInOrder([p.file], context),
};
