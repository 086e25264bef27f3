import { z } from 'zod';
import { parseRateLimits } from '../domain/access/limits/rate-limit.js';
import { parseSecretKeys } from '../domain/access/secret-box.js';
import { ALERT_KINDS } from '../domain/alert/alert.js';
import { parseDuration, UNITS } from '../domain/basics/duration.js';
import { DEFAULT_CHANGES_DAYS } from '../domain/change/change.js';
import { DEFAULT_RETRY_SCHEDULE, parseRetrySchedule } from '../domain/endpoint/retry-schedule.js';
import { isLogoOrigin, logoOrigin, PORTAL_COLOR, PORTAL_NAME } from '../domain/look/portal-look.js';
import { DEFAULT_PAYLOAD_DAYS, DEFAULT_RECORD_DAYS, parseKeptDays } from '../domain/records/kept-days.js';
import { scaledTimings } from '../domain/timings.js';
import { logSettings } from './log-settings.js';
import { oidcSettings } from './oidc-settings.js';
import {
  asIssue,
  flag,
  list,
  optionalBaseUrl,
  optionalText,
  parsed,
  parsedOr,
  splitList,
  text,
  webUrl,
  wholeOr,
} from './parse.js';
import { temporalSettings } from './temporal-settings.js';

const duration = (fallback: string) => parsedOr(fallback, parseDuration);
const rateLimits = (fallback: string) => parsedOr(fallback, parseRateLimits);
const PORT = 'must be a port, a whole number from 0 to 65535';
const port = (fallback: number) =>
  z.coerce.number(PORT).int(PORT).min(0, PORT).max(65_535, PORT).default(fallback);
const keptDays = (fallback: string) => parsedOr(fallback, parseKeptDays);
const secretKeys = parsed(parseSecretKeys).optional();

/** An origin as a policy names it; nothing else gets into a header. */
const ORIGIN = /^https?:\/\/(\*\.)?[a-z\d.-]+(:\d{1,5})?$/i;

/**
 * Every setting there is: its name in the environment, its meaning, its default. `docs/configuration.md` is checked
 * against it.
 */
export const settingsSchema = z.object({
  HOOKLINE_HOST: z.string().default('127.0.0.1').describe('Address that the API listens on'),
  HOOKLINE_PORT: port(8080).describe(
    'Port that the API listens on, or a worker’s `/healthz` and `/readyz`; 0 for any free one',
  ),
  HOOKLINE_KEEP_ALIVE: duration('75s')
    .refine((ms) => ms >= 1_000 && ms <= UNITS.h, 'must be from 1s to 1h')
    .describe(
      'How long an idle connection of a caller is kept. Set it above the idle time of the load balancer, or requests that it sends at that moment are lost',
    ),
  HOOKLINE_DRAIN: duration('5s')
    .refine((ms) => ms <= UNITS.h, 'must be at most 1h')
    .describe(
      'How long `serve` still accepts requests after the signal to stop, while `/readyz` is 503: longer than the load balancer takes to notice. Not with the role worker',
    ),
  HOOKLINE_PUBLIC_URL: optionalBaseUrl.describe(
    'Address of the API as its callers see it, such as `https://hooks.example.com`: the OAuth issuer. Default: the address that it listens on',
  ),
  HOOKLINE_PORTAL_FRAME_ANCESTORS: list
    .refine(
      (origins) => origins.every((origin) => ORIGIN.test(origin)),
      'must be origins such as https://app.example.com or https://*.example.com, with commas between',
    )
    .describe('Origins whose pages may show `/portal` in a frame. Default: none'),
  HOOKLINE_PORTAL_NAME: z
    .string()
    .regex(PORTAL_NAME, 'must be a line of 1 to 60 characters')
    .default('Hookline')
    .describe('Name on the portal and the OAuth pages'),
  HOOKLINE_PORTAL_LOGO_URL: z
    .string()
    .refine(
      (url) => logoOrigin(url) !== undefined,
      'must be an https URL, such as https://cdn.example.com/logo.svg',
    )
    .optional()
    .describe('A picture beside the name. Default: Hookline’s in the portal, none on the OAuth pages'),
  HOOKLINE_PORTAL_COLOR: z
    .string()
    .regex(PORTAL_COLOR, 'must be a colour such as #0a7f5a')
    .optional()
    .describe(
      'Colour of links and buttons of the portal and the OAuth pages, such as `#0a7f5a`; shades with enough contrast are derived from it. Default: Hookline’s',
    ),
  HOOKLINE_PORTAL_LOGO_ORIGINS: list
    .refine(
      (origins) => origins.every(isLogoOrigin),
      'must be origins such as https://cdn.example.com, with commas between',
    )
    .describe('Origins that logos of accounts may come from, besides that of `HOOKLINE_PORTAL_LOGO_URL`'),
  ...oidcSettings,
  HOOKLINE_INTERNAL_URL: optionalBaseUrl.describe(
    'Address at which other processes of this installation reach this one, such as `http://10.0.3.7:8080`: workers send deliveries for `hookline listen` there. Default: `HOOKLINE_HOST`, or the name of the machine, with the port',
  ),
  HOOKLINE_PROXY_HOPS: wholeOr(0, 0, 10).describe(
    'Number of trusted reverse proxies in front of the API, whose `X-Forwarded-For` and `-Proto` are used',
  ),
  HOOKLINE_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Lowest level of written log lines'),
  HOOKLINE_DATA_DIR: text
    .default('.hookline')
    .describe('Data folder of the embedded servers (`hookline dev`)'),
  ...temporalSettings,
  MONGODB_URI: optionalText.describe('Address of MongoDB; if it is absent, `hookline dev` starts a server'),
  HOOKLINE_KEYS_MONGODB_URI: optionalText.describe(
    'Separate MongoDB for the data keys that encrypt payloads: a server, or at least a database, with backups of its own ([backups](tasks/backup.md)). `hookline migrate` moves them there',
  ),
  HOOKLINE_TEMPORAL_PORT: port(7233).describe('Port of the embedded Temporal; 0 for any free one'),
  HOOKLINE_TEMPORAL_UI_PORT: port(8233).describe('Port of the embedded Temporal UI; 0 for any free one'),
  HOOKLINE_MONGODB_PORT: port(27017).describe('Port of the embedded MongoDB; 0 for any free one'),
  HOOKLINE_TASK_QUEUE: text.default('hookline').describe('Task queue of the workers'),
  HOOKLINE_RETENTION_DAYS: wholeOr(3, 1, 3_650).describe(
    'How long Temporal keeps closed executions, days; closed deliveries stay in MongoDB',
  ),
  HOOKLINE_CHANGES_DAYS: wholeOr(DEFAULT_CHANGES_DAYS, 1, 3_650).describe(
    'How long changes are kept (`GET /changes`), days',
  ),
  HOOKLINE_LOG_INTERVAL: z
    .string()
    .default('1m')
    .transform((text, context) => (text === 'off' ? undefined : asIssue(parseDuration)(text, context)))
    .describe('How often new records are appended to the log and signed; `off`: never'),
  HOOKLINE_RECORD_DAYS: keptDays(DEFAULT_RECORD_DAYS).describe(
    'How long closed deliveries are kept, days after they closed; exceptions follow the number, such as `400,purchase=90,acct_01J…=30,acct_01J…/purchase=7`',
  ),
  HOOKLINE_PAYLOAD_DAYS: keptDays(DEFAULT_PAYLOAD_DAYS).describe(
    'How long the payload of an event is kept, days after it was accepted; same format. The record stays',
  ),
  HOOKLINE_RETRY_SCHEDULE: z
    .string()
    .optional()
    .transform((text, context) =>
      text === undefined ? DEFAULT_RETRY_SCHEDULE : asIssue(parseRetrySchedule)(text, context),
    )
    .describe('Waits between attempts, such as `5s,5m,30m`'),
  HOOKLINE_ATTEMPT_TIMEOUT: duration('5s').describe('Time limit for a response of an endpoint'),
  HOOKLINE_PARK_LIMIT: duration('7d').describe('How long a delivery can be parked before it expires'),
  HOOKLINE_DISABLE_AFTER: duration('5d').describe(
    'Time without a success after which a failing endpoint is disabled',
  ),
  HOOKLINE_PROBE_INTERVAL: duration('1m').describe(
    'Wait between probes of a failing endpoint: one waiting delivery is attempted 5, 10, 20 and 40 s after the first failure, then after this time, which doubles up to 60 times as long. The early waits are never longer than this',
  ),
  HOOKLINE_RELEASE_RATE: z.coerce
    .number()
    .min(0.1)
    .max(10_000)
    .default(500)
    .describe(
      'Most waiting deliveries of an endpoint that are attempted each second when it returns. The rate begins at 20, doubles each second while the endpoint responds well, and falls while Temporal or the machine is busy',
    ),
  HOOKLINE_GROUP_COMMIT: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether deliveries that arrive while Temporal is busy share a workflow; `off`: always one workflow each',
    ),
  HOOKLINE_STARTS_IN_FLIGHT: wholeOr(1, 1, 64).describe(
    'Concurrent start calls to Temporal, for healthy endpoints and for others each; deliveries that arrive meanwhile are started as a group',
  ),
  HOOKLINE_MAX_FIRST_ATTEMPTS: wholeOr(1_000, 1, 100_000).describe(
    'First attempts in flight in a process; beyond that, further ones use the isolated queue',
  ),
  HOOKLINE_SLOW_RESPONSE: duration('2s').describe(
    'Response time after which an endpoint counts as slow and is isolated from others',
  ),
  HOOKLINE_ISOLATED_ATTEMPTS: wholeOr(100, 1, 10_000).describe(
    'Concurrent attempts in a process to slow or failing endpoints, and of retries; those of a group that are due together count as one',
  ),
  HOOKLINE_ALLOWED_NETWORKS: list.describe('Private networks that endpoints may be in, such as `10.0.0.0/8`'),
  HOOKLINE_DENIED_NETWORKS: list.describe(
    'Networks that endpoints may not be in, even if they are public or allowed, such as `198.51.100.0/24`',
  ),
  HOOKLINE_ALLOWED_PORTS: parsedOr('80,443,1024-65535', splitList).describe(
    'Ports that endpoints may use: numbers and ranges',
  ),
  HOOKLINE_DNS_SERVERS: list.describe(
    'DNS servers for names of endpoints, such as `10.0.0.2`. Default: those of the operating system',
  ),
  HOOKLINE_CONNECTION_AGE: duration('5m').describe(
    'Maximum age of a connection to an endpoint, or the TTL of its DNS record if that is shorter, but at least 10 s',
  ),
  HOOKLINE_EGRESS_PROXY: z
    .url({ protocol: /^http$/, error: 'must be a URL like http://proxy.example:3128' })
    .optional()
    .describe('HTTP proxy for connections to endpoints, by CONNECT to an address that Hookline has checked'),
  HOOKLINE_CLIENT_CERT_FILE: optionalText.describe(
    'PEM file of the client certificate for endpoints that request one (mutual TLS)',
  ),
  HOOKLINE_CLIENT_KEY_FILE: optionalText.describe('PEM file of its private key'),
  HOOKLINE_ALLOW_HTTP: flag
    .default(false)
    .describe('Whether endpoints may use plain http; for closed networks and benchmarks only'),
  HOOKLINE_EXTRA_CA_FILE: optionalText.describe(
    'PEM file of certificate authorities for endpoints and the mail server, besides the public ones',
  ),
  HOOKLINE_RATE_LIMIT_TOKEN: rateLimits('600/1m,20000/1h').describe(
    'Requests per token, events excepted: `requests/window`, several separated by commas, or `off`',
  ),
  HOOKLINE_RATE_LIMIT_ACCOUNT: rateLimits('6000/1m').describe('Events per account, same format'),
  HOOKLINE_RATE_LIMIT_ADDRESS: rateLimits('300/1m,5000/1h').describe(
    'Requests per address without a valid token, same format; the OAuth endpoints and the documentation count too',
  ),
  HOOKLINE_RATE_LIMIT_LOGIN: rateLimits('10/15m').describe(
    'Wrong passwords per login name and address, same format',
  ),
  HOOKLINE_RATE_LIMIT_BLOCK: duration('1m').describe(
    'First block of a caller who ignores refusals; each further one is twice as long',
  ),
  HOOKLINE_RATE_LIMIT_LONGEST_BLOCK: duration('1h').describe('Longest block'),
  HOOKLINE_RATE_LIMIT_STORE: z
    .enum(['memory', 'mongodb'])
    .default('mongodb')
    .describe(
      'How requests are counted: `mongodb` for all processes together, `memory` for each process alone; `hookline dev` uses `memory`',
    ),
  HOOKLINE_SECRET_KEYS: secretKeys.describe(
    'Keys that encrypt stored secrets, `id:base64`, the newest first; create one with `hookline secret-key`; `hookline dev` keeps one in its data folder',
  ),
  HOOKLINE_PAYLOAD_KEYS: secretKeys.describe(
    'Keys that encrypt payloads, in the format of HOOKLINE_SECRET_KEYS; without it payloads stay plain in MongoDB and cannot be erased; `hookline dev` keeps one in its data folder',
  ),
  HOOKLINE_WRAPPING_KEYS: secretKeys.describe(
    'Keys that wrap the data keys of accounts and subjects and nothing else, in the format of HOOKLINE_SECRET_KEYS: destroying a former one makes earlier erasures final in every copy ([rotation](privacy.md#rotating-the-wrapping-key)). Default: HOOKLINE_PAYLOAD_KEYS',
  ),
  ...logSettings,
  HOOKLINE_ENDPOINT_VERIFICATION: z
    .enum(['required', 'off'])
    .optional()
    .describe(
      'Whether endpoints must be verified before they get events; `required`, except in `hookline dev`',
    ),
  HOOKLINE_VERIFICATION_SCHEDULE: parsedOr('10s,1m,5m,15m,1h,3h,6h,12h', parseRetrySchedule).describe(
    'Waits between the attempts to verify an endpoint',
  ),
  HOOKLINE_VERIFICATION_LIMIT: duration('1d').describe('Time after which an unverified endpoint is disabled'),
  HOOKLINE_MAX_ENDPOINTS: wholeOr(1_000, 1, Number.MAX_SAFE_INTEGER).describe(
    'Maximum number of endpoints of an account',
  ),
  HOOKLINE_ALERT_MAIL_TO: list.describe(
    'Addresses that get an e-mail when an endpoint is failing, recovers or is disabled ([alerts](alerts.md))',
  ),
  HOOKLINE_ALERT_MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*@[^\r\n@]+$/, 'must be an e-mail address, such as Hookline <hookline@example.com>')
    .optional()
    .describe('Sender of these e-mails, such as `Hookline <hookline@example.com>`'),
  HOOKLINE_SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be a URL like smtp://user:password@mail.example.com:587' })
    .optional()
    .describe(
      'Mail server: `smtp://user:password@mail.example.com:587`, or `smtps://…` for TLS from the beginning. A password is sent over TLS only. A secret',
    ),
  HOOKLINE_ALERT_CHAT_URL: z
    .url({ protocol: /^https$/, error: 'must be an https URL like https://chat.example.com/hooks/…' })
    .optional()
    .describe(
      'Incoming webhook of a chat for the same alerts (Slack, Mattermost and others that accept `{"text": …}`). A secret',
    ),
  HOOKLINE_ALERT_KINDS: z
    .string()
    .default(ALERT_KINDS.join(','))
    .transform(splitList)
    .pipe(z.array(z.enum(ALERT_KINDS)))
    .describe('Operational events that raise alerts'),
  HOOKLINE_ALERT_AFTER: duration('5m').describe(
    'An endpoint that recovers within this time raises no alert; a disabled endpoint raises one at once',
  ),
  HOOKLINE_ALERT_INTERVAL: duration('5m').describe(
    'Least time between two messages of a channel; alerts of the meantime are joined in the next one',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe(
      'OpenTelemetry collector for traces (OTLP over HTTP), such as `http://localhost:4318`; without it nothing is traced ([tracing](tracing.md))',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: webUrl
    .optional()
    .describe('The same with the complete path, if it is not `/v1/traces`'),
  OTEL_EXPORTER_OTLP_HEADERS: parsedOr('', parseOtlpHeaders).describe(
    'Headers of these posts, `name=value` separated by commas, values percent-encoded. A secret',
  ),
  OTEL_SERVICE_NAME: text.default('hookline').describe('`service.name` of the traces'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of traces that is recorded, also of those that a producer began; by trace id'),
  OTEL_BSP_SCHEDULE_DELAY: wholeOr(5_000, 10, UNITS.m).describe(
    'Time between two posts of traces, milliseconds',
  ),
  HOOKLINE_TEST_TIME_SCALE: z.coerce
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .transform(scaledTimings)
    .describe(
      'For Hookline’s own tests only: share of the fixed waits that it really waits, such as between the first probes of an endpoint. A service with less than 1 warns of it when it starts',
    ),
  HOOKLINE_TEMPORAL_METRICS_ADDRESS: optionalText.describe(
    'Address at which the Temporal SDK serves its own metrics, `host:port`. Default: a free port of this machine. `/metrics` has them in any case',
  ),
});

export type Settings = z.output<typeof settingsSchema>;

/** Headers as the OpenTelemetry specification writes them: W3C Baggage without its properties. */
function parseOtlpHeaders(text: string): Record<string, string> {
  const pairs = splitList(text).map((part) => {
    const [, name, value = ''] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*)$/.exec(part) ?? [];
    if (name === undefined) throw new Error('must be name=value, with commas between');
    return [name, decodeURIComponent(value)] as const;
  });
  return Object.fromEntries(pairs);
}
