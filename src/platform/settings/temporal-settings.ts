import { z } from 'zod';
import { WORKER_VERSIONING } from '../../core/words.ts';
import { filePath, httpUrl, ownSecret, text } from './setting-kinds.ts';

/** Settings of the server of Temporal. */
export const temporalSettings = z.strictObject({
  address: z
    .string()
    .regex(/^[^\s/:]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i, 'must be host:port, such as 127.0.0.1:7233')
    .default('127.0.0.1:7233')
    .meta({ example: 'temporal.example:7233' })
    .describe('Host and port of the Temporal server.'),
  namespace: text.default('default').describe('Temporal namespace of all runs.'),
  task_queue: z
    .string()
    .regex(/^[\w.:-]+$/, 'may contain only letters, digits and . _ : -')
    .default('sitewright')
    .describe('Task queue of the orchestrator worker; operators pass it to `temporal workflow start`.'),
  prefix: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'may contain only lower-case letters, digits and -, at most 32')
    .optional()
    .meta({ example: 'west' })
    .describe(
      'Prefix of the names of task queues, workflows and schedules (`west:sitewright`, `west:deploy_site:dc1`), so that several installations can share a namespace. API, worker and agents need the same. None: no prefix.',
    ),
  worker_versioning: z
    .enum(WORKER_VERSIONING)
    .default('auto')
    .describe(
      'Whether runs stay with the build of the worker that started them. `auto`: yes, and new runs go to a new build from its first start on. `manual`: yes, and `sitewright worker drain VERSION` sends new runs to it. `off`: no; stop all workers before an upgrade. Without effect on servers that have no worker deployment versions.',
    ),
  ui_url: httpUrl
    .optional()
    .describe(
      'Base URL of Temporal’s Web UI, for links to runs. None: no links, unless Sitewright started the server.',
    ),
  retention_days: z
    .int()
    .min(1)
    .max(3650)
    .default(30)
    .describe(
      'Days that Temporal keeps the histories of ended runs: `run tree`, Temporal’s Web UI and resets need them. Reports stay in the store. `up` sets it on the server that it starts; on the namespace of any other server set it yourself (`temporal operator namespace update --retention`), and `sitewright doctor` compares.',
    ),
  tls: z.strictObject({
    ca_file: filePath
      .optional()
      .meta({ reload: true })
      .describe(
        'File (PEM) with the authorities for the certificate of the Temporal server. None: those of the system. Any setting of `temporal.tls` turns TLS on.',
      ),
    cert_file: filePath
      .optional()
      .meta({ with: 'key_file', reload: true })
      .describe('File (PEM) with the client certificate for the Temporal server, if it requires one.'),
    key_file: ownSecret('the private key (PEM)')
      .optional()
      .meta({ with: 'cert_file', reload: true })
      .describe('File (PEM) with the key of `temporal.tls.cert_file`.'),
    server_name: text
      .optional()
      .describe('Expected name in the certificate of the Temporal server. None: the host of `temporal.address`.'),
  }),
  api_key_file: ownSecret('the API key')
    .optional()
    .describe('File with the API key for the Temporal server as its only line; it is sent only over TLS.')
    .meta({ reload: true }),
  encryption_key_file: filePath
    .optional()
    .describe(
      'File with the encryption keys for all data sent to Temporal; the first is used for new data (`sitewright identity encryption-key FILE`). API, worker, gateway and agents need the same file. None: nothing is encrypted.',
    ),
});
