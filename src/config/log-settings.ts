import { z } from 'zod';
import { readSigningKeys } from '../../packages/tlog/src/index.js';
import { list, optionalText, parsed } from './parse.js';

/** Settings of the log that proves what was recorded. */
export const logSettings = {
  HOOKLINE_LOG_KEY: parsed(readSigningKeys)
    .optional()
    .describe(
      'Key that signs the checkpoints of the log; create one with `hookline log-key`. Several, separated by commas, all sign. Default: a key that is created when it is first needed and stored in MongoDB, encrypted with `HOOKLINE_SECRET_KEYS`',
    ),
  HOOKLINE_LOG_COPY: optionalText.describe(
    'Copy of the last checkpoint of the log outside MongoDB and Temporal: the path of a file that all workers share, or an `https` URL that supports GET and PUT. Only checkpoints that continue it are signed',
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
      'Time-stamping service (RFC 3161) for the checkpoints of the log, such as `https://timestamp.example.com`; it may contain user and password. Its certificate may be signed by `HOOKLINE_EXTRA_CA_FILE`',
    ),
  HOOKLINE_LOG_ABANDONED: list.describe(
    'Names of logs that were lost in a restore from an old backup and are given up, so that the log of `HOOKLINE_LOG_KEY`, which has another name, can begin again',
  ),
};
