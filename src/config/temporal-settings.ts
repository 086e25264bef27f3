import { z } from 'zod';
import { flag } from './parse.js';

const path = () => z.string().min(1).optional();

/** How Temporal is reached. Certificates have the names that Temporal's own command line and SDKs give them. */
export const temporalSettings = {
  TEMPORAL_ADDRESS: z
    .string()
    .min(1)
    .optional()
    .describe('Temporal, `host:port`; `hookline dev` starts one where it is absent'),
  TEMPORAL_NAMESPACE: z
    .string()
    .min(1)
    .default('hookline')
    .describe('Namespace of Temporal; of Temporal Cloud with the account, such as `hookline.a1b2c`'),
  TEMPORAL_API_KEY: z.string().min(1).optional().describe('API key for Temporal Cloud. A secret'),
  TEMPORAL_TLS: flag
    .optional()
    .describe(
      'Whether to use TLS to Temporal; with an API key or one of the following four it is used anyway',
    ),
  TEMPORAL_TLS_CLIENT_CERT_PATH: path().describe(
    'PEM file of the certificate that Temporal knows Hookline by (mutual TLS), with its chain',
  ),
  TEMPORAL_TLS_CLIENT_KEY_PATH: path().describe('PEM file of its private key'),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: path().describe(
    'PEM file of the authorities that Temporal’s certificate may be signed by; the system’s where it is absent',
  ),
  TEMPORAL_TLS_SERVER_NAME: z
    .string()
    .min(1)
    .optional()
    .describe('Name in Temporal’s certificate, where it is not that of the address'),
  TEMPORAL_UI_URL: z.url().optional().describe('Temporal UI, for links; `hookline dev` knows its own'),
};
