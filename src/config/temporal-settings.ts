import { z } from 'zod';
import { isId } from '../domain/basics/ids.js';
import { RELEASE } from '../domain/basics/release.js';
import { flag, optionalText, parsedOr, splitList, text, whole } from './parse.js';

/** Temporal writes a version as `deployment.build` or `deployment:build`, and puts both into task queues' names. */
const NAME = /^[\w-]{1,100}$/;
const BUILD = /^[\w.-]{1,100}$/;

/** Each has a worker of its own. */
const MAX_NEXUS_QUEUES = 20;

/** Accounts by the task queues at which their workflows publish. @throws Error naming the part and its form */
function parseNexusAccounts(list: string): ReadonlyMap<string, string> {
  const parts = splitList(list);
  const accounts = new Map<string, string>();
  for (const part of parts) {
    const [, queue, account = ''] = /^([^=]+)=(.*)$/.exec(part) ?? [];
    if (!queue || !isId('account', account))
      throw new Error(`"${part}" must be a task queue and an account, such as orders=acct_…`);
    if (accounts.has(queue)) throw new Error(`the task queue ${queue} must have one account`);
    accounts.set(queue, account);
  }
  if (accounts.size > MAX_NEXUS_QUEUES) throw new Error(`must have at most ${MAX_NEXUS_QUEUES} task queues`);
  return accounts;
}

/** How Temporal is reached. Certificates have the names that Temporal's own command line and SDKs give them. */
export const temporalSettings = {
  TEMPORAL_ADDRESS: optionalText.describe(
    'Address of Temporal, `host:port`; if it is absent, `hookline dev` starts a server',
  ),
  TEMPORAL_NAMESPACE: text
    .default('hookline')
    .describe('Namespace of Temporal; in Temporal Cloud with the account, such as `hookline.a1b2c`'),
  TEMPORAL_API_KEY: optionalText.describe('API key for Temporal Cloud. A secret'),
  TEMPORAL_TLS: flag
    .optional()
    .describe(
      'Whether to use TLS to Temporal; always on with an API key or one of the following four settings',
    ),
  TEMPORAL_TLS_CLIENT_CERT_PATH: optionalText.describe(
    'PEM file of the client certificate for Temporal (mutual TLS), with its chain',
  ),
  TEMPORAL_TLS_CLIENT_KEY_PATH: optionalText.describe('PEM file of its private key'),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: optionalText.describe(
    'PEM file of the authorities for Temporal’s certificate. Default: those of the system',
  ),
  TEMPORAL_TLS_SERVER_NAME: optionalText.describe(
    'Name in Temporal’s certificate, if it differs from the address',
  ),
  HOOKLINE_WORKER_DEPLOYMENT: z
    .string()
    .regex(NAME, 'must be letters, digits, `-` and `_`')
    .optional()
    .describe(
      'Name of the worker deployment, in which Temporal decides which build gets work ([upgrades](tasks/upgrade.md)). If it is absent, each process gets work as soon as it runs',
    ),
  HOOKLINE_BUILD_ID: z
    .string()
    .regex(BUILD, 'must be letters, digits, `-`, `_` and `.`')
    .default(RELEASE)
    .describe('Name of this build in the worker deployment. Default: the version of Hookline'),
  HOOKLINE_VISIBILITY_PER_SECOND: whole(1, 100_000)
    .optional()
    .describe(
      'Calls per second of one process to Temporal that list or count: the limit of the namespace, divided by the number of processes ([visibility](tasks/temporal-cloud.md#lists-and-counts)). Default: 30 at an address of Temporal Cloud, 1000 elsewhere',
    ),
  HOOKLINE_NEXUS_ACCOUNTS: parsedOr('', parseNexusAccounts).describe(
    'Task queues of Nexus endpoints, each with the account for which workflows publish there, such as `orders=acct_01J…` ([Nexus](tasks/nexus.md)); several separated by commas, at most 20',
  ),
  TEMPORAL_UI_URL: z
    .url()
    .optional()
    .describe('Address of Temporal UI, for links; `hookline dev` uses its own'),
};
