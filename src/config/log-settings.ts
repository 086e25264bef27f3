import { z } from 'zod';
import { readSigningKeys } from '../../packages/tlog/src/index.js';
import { list, optionalText, parsed } from './parse.js';

/** Settings of the log that proves what was recorded. */
export const logSettings = {
  HOOKLINE_LOG_KEY: parsed(readSigningKeys)
    .optional()
    .describe(
      'Key that signs the checkpoints of the log; `hookline log-key` makes one. Several, separated by commas, all sign. Default: one that is made when it is first needed, and kept in MongoDB, encrypted with `HOOKLINE_SECRET_KEYS`',
    ),
  HOOKLINE_LOG_COPY: optionalText.describe(
    'Where the last checkpoint of the log is kept outside MongoDB and Temporal: a path of a file that all workers share, or an `https` URL that answers GET and takes PUT. Nothing is signed that does not continue it',
  ),
  HOOKLINE_LOG_WITNESSES: z
    .string()
    .default('')
    .describe(
      'Witnesses that cosign each checkpoint (C2SP tlog-witness), such as `witness.example.com+1a2b3c4d+BAb…@https://witness.example.com`, separated by commas; `hookline witness` is one',
    ),
  HOOKLINE_LOG_TIMESTAMP_URL: z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .optional()
    .describe(
      'Time-stamping service (RFC 3161) that is asked about each checkpoint of the log, such as `https://timestamp.example.com`; user and password may stand in it. Its certificate may be signed by `HOOKLINE_EXTRA_CA_FILE`',
    ),
  HOOKLINE_LOG_ABANDONED: list.describe(
    'Names of logs that were lost and are given up, after a restore from an old backup: checkpoints of them do not keep the log of `HOOKLINE_LOG_KEY`, whose name is another, from beginning again',
  ),
};
