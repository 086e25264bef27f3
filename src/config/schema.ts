import { z } from 'zod';
import { parseRateLimits } from '../domain/access/limits/rate-limit.js';
import { parseSecretKeys } from '../domain/access/secret-box.js';
import { ALERT_KINDS } from '../domain/alert/alert.js';
import { parseDuration } from '../domain/basics/duration.js';
import { DEFAULT_CHANGES_DAYS } from '../domain/change/change.js';
import { DEFAULT_RETRY_SCHEDULE, parseRetrySchedule } from '../domain/endpoint/retry-schedule.js';
import { isLogoOrigin, logoOrigin, PORTAL_COLOR, PORTAL_NAME } from '../domain/look/portal-look.js';
import { DEFAULT_PAYLOAD_DAYS, DEFAULT_RECORD_DAYS, parseKeptDays } from '../domain/records/kept-days.js';
import { scaledTimings } from '../domain/timings.js';
import { logSettings } from './log-settings.js';
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
    .refine((ms) => ms >= 1_000 && ms <= 3_600_000, 'must be from 1s to 1h')
    .describe(
      'How long an idle connection of a caller is kept. It must be longer than a load balancer before the API keeps its own, or requests are lost that it sends at that moment',
    ),
  HOOKLINE_DRAIN: duration('5s')
    .refine((ms) => ms <= 3_600_000, 'must be at most 1h')
    .describe(
      'How long `serve` still takes requests when it is told to stop, while `/readyz` says 503: longer than what is in front takes to see that. Not with the role worker',
    ),
  HOOKLINE_PUBLIC_URL: optionalBaseUrl.describe(
    'Address of the API as its callers see it, such as `https://hooks.example.com`: the OAuth issuer. Default: where it listens',
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
    .describe('What the portal and the OAuth pages call themselves'),
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
      'Colour of links and buttons of the portal and the OAuth pages, such as `#0a7f5a`; shades with enough contrast are made of it. Default: Hookline’s',
    ),
  HOOKLINE_PORTAL_LOGO_ORIGINS: list
    .refine(
      (origins) => origins.every(isLogoOrigin),
      'must be origins such as https://cdn.example.com, with commas between',
    )
    .describe('Origins that logos of accounts may come from, besides that of `HOOKLINE_PORTAL_LOGO_URL`'),
  HOOKLINE_INTERNAL_URL: optionalBaseUrl.describe(
    'Where other processes of this installation reach this one, such as `http://10.0.3.7:8080`: workers hand deliveries for `hookline listen` to it. Default: `HOOKLINE_HOST`, or the name of the machine, with the port',
  ),
  HOOKLINE_PROXY_HOPS: wholeOr(0, 0, 10).describe(
    'How many proxies stand before the API, whose `X-Forwarded-For` and `-Proto` are believed',
  ),
  HOOKLINE_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least severe log line that is written'),
  HOOKLINE_DATA_DIR: text
    .default('.hookline')
    .describe('Where the embedded servers keep their data (`hookline dev`)'),
  ...temporalSettings,
  MONGODB_URI: optionalText.describe('MongoDB; `hookline dev` starts one where it is absent'),
  HOOKLINE_KEYS_MONGODB_URI: optionalText.describe(
    'MongoDB of the data keys that payloads are encrypted with, if they are to live apart: a server, or at least a database, with backups of its own ([backups](tasks/backup.md)). `hookline migrate` moves them there',
  ),
  HOOKLINE_TEMPORAL_PORT: port(7233).describe('Port of the embedded Temporal; 0 for any free one'),
  HOOKLINE_TEMPORAL_UI_PORT: port(8233).describe('Port of the embedded Temporal UI; 0 for any free one'),
  HOOKLINE_MONGODB_PORT: port(27017).describe('Port of the embedded MongoDB; 0 for any free one'),
  HOOKLINE_TASK_QUEUE: text.default('hookline').describe('Task queue of the workers'),
  HOOKLINE_RETENTION_DAYS: wholeOr(3, 1, 3_650).describe(
    'How long Temporal keeps executions that have ended, days: a delivery that has closed is a record of MongoDB',
  ),
  HOOKLINE_CHANGES_DAYS: wholeOr(DEFAULT_CHANGES_DAYS, 1, 3_650).describe(
    'How long it is kept who changed what (`GET /changes`), days',
  ),
  HOOKLINE_LOG_INTERVAL: z
    .string()
    .default('1m')
    .transform((text, context) => (text === 'off' ? undefined : asIssue(parseDuration)(text, context)))
    .describe('How often the log takes what was recorded, and signs; `off`: never'),
  HOOKLINE_RECORD_DAYS: keptDays(DEFAULT_RECORD_DAYS).describe(
    'How long closed deliveries are kept, days after they closed; exceptions follow the number, such as `400,purchase=90,acct_01J…=30,acct_01J…/purchase=7`',
  ),
  HOOKLINE_PAYLOAD_DAYS: keptDays(DEFAULT_PAYLOAD_DAYS).describe(
    'How long the payload of an event is kept, days after it was accepted; written alike. The record stays',
  ),
  HOOKLINE_RETRY_SCHEDULE: z
    .string()
    .optional()
    .transform((text, context) =>
      text === undefined ? DEFAULT_RETRY_SCHEDULE : asIssue(parseRetrySchedule)(text, context),
    )
    .describe('Waits between attempts, such as `5s,5m,30m`'),
  HOOKLINE_ATTEMPT_TIMEOUT: duration('5s').describe('Time for an endpoint to answer'),
  HOOKLINE_PARK_LIMIT: duration('7d').describe('How long a delivery may be parked before it expires'),
  HOOKLINE_DISABLE_AFTER: duration('5d').describe(
    'An endpoint that fails for so long without a success is disabled',
  ),
  HOOKLINE_PROBE_INTERVAL: duration('1m').describe(
    'Of an endpoint that keeps failing, one waiting delivery is attempted 5, 10, 20 and 40 s after the first failure, then after this time, which doubles up to 60 times as long. The early waits are not longer than this',
  ),
  HOOKLINE_RELEASE_RATE: z.coerce
    .number()
    .min(0.1)
    .max(10_000)
    .default(500)
    .describe(
      'Waiting deliveries of an endpoint that are attempted each second when it returns, at most. It begins with 20, doubles each second while the endpoint answers well, and gives way where Temporal or the machine is busy',
    ),
  HOOKLINE_GROUP_COMMIT: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether deliveries that arrive while Temporal is busy are committed in groups; `off`: strictly one workflow each',
    ),
  HOOKLINE_STARTS_IN_FLIGHT: wholeOr(1, 1, 64).describe(
    'Start calls to Temporal in flight at once, for healthy endpoints and for others each; what arrives meanwhile is committed in a group',
  ),
  HOOKLINE_MAX_FIRST_ATTEMPTS: wholeOr(1_000, 1, 100_000).describe(
    'First attempts in flight in a process, beyond which further ones are made in the isolated lane',
  ),
  HOOKLINE_SLOW_ANSWER: duration('2s').describe(
    'An endpoint that has not answered after so long is a slow one: its attempts are isolated from others',
  ),
  HOOKLINE_ISOLATED_ATTEMPTS: wholeOr(100, 1, 10_000).describe(
    'Attempts under way at once in a process to endpoints that are slow or failing, and of retries',
  ),
  HOOKLINE_ALLOWED_NETWORKS: list.describe(
    'Networks that endpoints may be in although they are not public, such as `10.0.0.0/8`',
  ),
  HOOKLINE_DENIED_NETWORKS: list.describe(
    'Networks that endpoints may not be in, although they are public or allowed, such as `198.51.100.0/24`',
  ),
  HOOKLINE_ALLOWED_PORTS: parsedOr('80,443,1024-65535', splitList).describe(
    'Ports that endpoints may be at: numbers and ranges',
  ),
  HOOKLINE_DNS_SERVERS: list.describe(
    'DNS servers that endpoints’ names are looked up with, such as `10.0.0.2`; the operating system’s where it is empty',
  ),
  HOOKLINE_CONNECTION_AGE: duration('5m').describe(
    'The greatest age of a connection to an endpoint; it is less where the TTL of the name’s DNS record is less, but for 10 s at least',
  ),
  HOOKLINE_EGRESS_PROXY: z
    .url({ protocol: /^http$/, error: 'must be a URL like http://proxy.example:3128' })
    .optional()
    .describe(
      'HTTP proxy that connections to endpoints leave through, by CONNECT to an address checked here',
    ),
  HOOKLINE_CLIENT_CERT_FILE: optionalText.describe(
    'PEM file of the certificate that is shown to endpoints which ask for one (mutual TLS)',
  ),
  HOOKLINE_CLIENT_KEY_FILE: optionalText.describe('PEM file of its private key'),
  HOOKLINE_ALLOW_HTTP: flag
    .default(false)
    .describe('Whether endpoints may be plain http; for closed networks and benchmarks only'),
  HOOKLINE_EXTRA_CA_FILE: optionalText.describe(
    'PEM file of authorities that certificates of endpoints, and of the mail server, may be signed by, besides the public ones',
  ),
  HOOKLINE_RATE_LIMIT_TOKEN: rateLimits('600/1m,20000/1h').describe(
    'Requests per token, events excepted: `requests/window`, several separated by commas, or `off`',
  ),
  HOOKLINE_RATE_LIMIT_ACCOUNT: rateLimits('6000/1m').describe('Events per account, written alike'),
  HOOKLINE_RATE_LIMIT_ADDRESS: rateLimits('300/1m,5000/1h').describe(
    'Requests per address without a valid token, written alike; the OAuth endpoints and the documentation count too',
  ),
  HOOKLINE_RATE_LIMIT_LOGIN: rateLimits('10/15m').describe(
    'Wrong passwords per login name and address, written alike',
  ),
  HOOKLINE_RATE_LIMIT_BLOCK: duration('1m').describe(
    'First block of a caller who goes on although refused; each further one is twice as long',
  ),
  HOOKLINE_RATE_LIMIT_LONGEST_BLOCK: duration('1h').describe('Longest block'),
  HOOKLINE_RATE_LIMIT_STORE: z
    .enum(['memory', 'mongodb'])
    .default('mongodb')
    .describe(
      'How requests are counted: `mongodb` for all processes together, which tell each other there, `memory` for each alone; `hookline dev` uses memory',
    ),
  HOOKLINE_SECRET_KEYS: secretKeys.describe(
    'Keys that stored secrets are encrypted with, `id:base64`, the newest first; `hookline secret-key` makes one, `hookline dev` keeps one in its data folder',
  ),
  HOOKLINE_PAYLOAD_KEYS: secretKeys.describe(
    'Keys that payloads are encrypted with, written like HOOKLINE_SECRET_KEYS; without it payloads stay plain in MongoDB and cannot be erased; `hookline dev` keeps one in its data folder',
  ),
  HOOKLINE_WRAPPING_KEYS: secretKeys.describe(
    'Keys that wrap the data keys of accounts and subjects and nothing else, written like HOOKLINE_SECRET_KEYS: once a former one is destroyed, erasures from before are final in every copy ([rotation](privacy.md#rotating-the-wrapping-key)). Without it HOOKLINE_PAYLOAD_KEYS wrap them',
  ),
  ...logSettings,
  HOOKLINE_ENDPOINT_VERIFICATION: z
    .enum(['required', 'off'])
    .optional()
    .describe('Whether endpoints must show that they want events; `required` but for `hookline dev`'),
  HOOKLINE_VERIFICATION_SCHEDULE: parsedOr('10s,1m,5m,15m,1h,3h,6h,12h', parseRetrySchedule).describe(
    'Waits between the attempts to verify an endpoint',
  ),
  HOOKLINE_VERIFICATION_LIMIT: duration('1d').describe(
    'How long verification is tried before the endpoint is disabled',
  ),
  HOOKLINE_MAX_ENDPOINTS: wholeOr(1_000, 1, Number.MAX_SAFE_INTEGER).describe(
    'Endpoints that one account may have',
  ),
  HOOKLINE_ALERT_MAIL_TO: list.describe(
    'Addresses that are alerted by e-mail when an endpoint is failing, recovers or is disabled ([alerts](alerts.md)); nobody where it is empty',
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
      'Incoming webhook of a chat that gets the same alerts (Slack, Mattermost and others that take `{"text": …}`). A secret',
    ),
  HOOKLINE_ALERT_KINDS: z
    .string()
    .default(ALERT_KINDS.join(','))
    .transform(splitList)
    .pipe(z.array(z.enum(ALERT_KINDS)))
    .describe('Operational events that people are alerted to'),
  HOOKLINE_ALERT_AFTER: duration('5m').describe(
    'An endpoint that recovers within this time raises no alert; one that is disabled does at once',
  ),
  HOOKLINE_ALERT_INTERVAL: duration('5m').describe(
    'At most one message per channel in this time; what happens meanwhile is in the next one',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe(
      'OpenTelemetry collector that traces are posted to (OTLP over HTTP), such as `http://localhost:4318`; without it nothing is traced ([tracing](tracing.md))',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: webUrl
    .optional()
    .describe('The same with the whole path, where it is not `/v1/traces`'),
  OTEL_EXPORTER_OTLP_HEADERS: parsedOr('', parseOtlpHeaders).describe(
    'Headers of these posts, `name=value` with commas between, values percent-encoded. A secret',
  ),
  OTEL_SERVICE_NAME: text.default('hookline').describe('`service.name` of the traces'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Part of the traces that is recorded, also of those that a producer began; by trace id'),
  OTEL_BSP_SCHEDULE_DELAY: wholeOr(5_000, 10, 60_000).describe(
    'Time between two posts of traces, milliseconds',
  ),
  HOOKLINE_TEST_TIME_SCALE: z.coerce
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .transform(scaledTimings)
    .describe(
      'For Hookline’s own tests only: the part of the time that it waits where a rule fixes the wait and no setting, such as between the first probes of an endpoint. A service that is not in a test must wait all of it; one that does not warns of that when it starts',
    ),
  HOOKLINE_TEMPORAL_METRICS_ADDRESS: optionalText.describe(
    'Where the Temporal SDK serves its own metrics, `host:port`; without it, on a free port of this machine. `/metrics` has them in any case',
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
