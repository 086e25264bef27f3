import { z } from 'zod';
import { RELEASE } from '../domain/basics/release.js';
import { flag, optionalText, text, whole } from './parse.js';

/** Temporal writes a version as `deployment.build` or `deployment:build`, and puts both into task queues' names. */
const NAME = /^[\w-]{1,100}$/;
const BUILD = /^[\w.-]{1,100}$/;

/** How Temporal is reached. Certificates have the names that Temporal's own command line and SDKs give them. */
export const temporalSettings = {
  TEMPORAL_ADDRESS: optionalText.describe(
    'Temporal, `host:port`; `hookline dev` starts one where it is absent',
  ),
  TEMPORAL_NAMESPACE: text
    .default('hookline')
    .describe('Namespace of Temporal; of Temporal Cloud with the account, such as `hookline.a1b2c`'),
  TEMPORAL_API_KEY: optionalText.describe('API key for Temporal Cloud. A secret'),
  TEMPORAL_TLS: flag
    .optional()
    .describe(
      'Whether to use TLS to Temporal; with an API key or one of the following four it is used anyway',
    ),
  TEMPORAL_TLS_CLIENT_CERT_PATH: optionalText.describe(
    'PEM file of the certificate that Temporal knows Hookline by (mutual TLS), with its chain',
  ),
  TEMPORAL_TLS_CLIENT_KEY_PATH: optionalText.describe('PEM file of its private key'),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: optionalText.describe(
    'PEM file of the authorities that Temporal’s certificate may be signed by; the system’s where it is absent',
  ),
  TEMPORAL_TLS_SERVER_NAME: optionalText.describe(
    'Name in Temporal’s certificate, where it is not that of the address',
  ),
  HOOKLINE_WORKER_DEPLOYMENT: z
    .string()
    .regex(NAME, 'must be letters, digits, `-` and `_`')
    .optional()
    .describe(
      'Name of the worker deployment, where Temporal decides which build gets work ([upgrades](tasks/upgrade.md)); absent: each process gets work as soon as it runs',
    ),
  HOOKLINE_BUILD_ID: z
    .string()
    .regex(BUILD, 'must be letters, digits, `-`, `_` and `.`')
    .default(RELEASE)
    .describe('What Temporal calls this build in the worker deployment; by default the version of Hookline'),
  HOOKLINE_VISIBILITY_PER_SECOND: whole(1, 100_000)
    .optional()
    .describe(
      'Calls a second of one process to Temporal that list or count: the room of the namespace, divided by the number of processes ([visibility](tasks/temporal-cloud.md#lists-and-counts)). Default: 30 at an address of Temporal Cloud, 1000 elsewhere',
    ),
  TEMPORAL_UI_URL: z.url().optional().describe('Temporal UI, for links; `hookline dev` knows its own'),
};
