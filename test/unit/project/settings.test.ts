import assert from 'node:assert/strict';
import { loadSettings, SettingsError } from '../../../src/config/load.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { DEFAULT_RETRY_SCHEDULE } from '../../../src/domain/endpoint/retry-schedule.js';

const ACCOUNT = newId('account');
const manyQueues = (count: number) =>
  Array.from({ length: count }, (_, index) => `q${index}=${ACCOUNT}`).join();

describe('settings', () => {
  it('have defaults that are safe', () => {
    const settings = loadSettings({});
    assert.equal(settings.HOOKLINE_HOST, '127.0.0.1');
    assert.equal(settings.HOOKLINE_ALLOW_HTTP, false);
    assert.deepEqual(settings.HOOKLINE_ALLOWED_NETWORKS, []);
    assert.equal(settings.HOOKLINE_ATTEMPT_TIMEOUT, 5_000);
    assert.equal(settings.HOOKLINE_PARK_LIMIT, 7 * 86_400_000);
    assert.deepEqual(settings.HOOKLINE_RETRY_SCHEDULE, DEFAULT_RETRY_SCHEDULE);
  });

  it('that are empty count as absent', () => {
    assert.equal(loadSettings({ HOOKLINE_PORT: '', TEMPORAL_ADDRESS: '' }).HOOKLINE_PORT, 8080);
  });

  it('of commands that use a server are ignored', () => {
    const ofClients = {
      HOOKLINE_URL: 'http://127.0.0.1:8080',
      HOOKLINE_API_KEY: 'hlk_1',
      HOOKLINE_ACCOUNT: 'acct_1',
      HOOKLINE_OUTBOX_URI: 'mongodb://localhost/shop',
    };
    assert.equal(loadSettings(ofClients).HOOKLINE_PORT, 8080);
  });

  const refused: [string, string, RegExp][] = [
    ['HOOKLINE_ALERT_KINDS', 'purchase', /HOOKLINE_ALERT_KINDS\.0: Invalid option/],
    ['HOOKLINE_ALERT_MAIL_FROM', 'x@example.com\r\nBcc: y@example.com', /HOOKLINE_ALERT_MAIL_FROM: must be/],
    ['HOOKLINE_SMTP_URL', 'http://mail.example.com', /HOOKLINE_SMTP_URL: must be a URL like smtp/],
    ['OTEL_TRACES_SAMPLER_ARG', '2', /OTEL_TRACES_SAMPLER_ARG: /],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'nonsense', /OTEL_EXPORTER_OTLP_HEADERS: must be name=value/],
    [
      'HOOKLINE_ATTEMPT_TIMEOUT',
      '5',
      /HOOKLINE_ATTEMPT_TIMEOUT: "5" is not a duration; write a number and a unit/,
    ],
    ['HOOKLINE_PARK_LIMIT', 'long', /HOOKLINE_PARK_LIMIT: "long" is not a duration/],
    ['HOOKLINE_RETRY_SCHEDULE', '5s,never', /HOOKLINE_RETRY_SCHEDULE: "never" is not a duration/],
    ['HOOKLINE_NEXUS_ACCOUNTS', 'orders', /"orders" must be a task queue and an account/],
    ['HOOKLINE_NEXUS_ACCOUNTS', 'orders=key_1', /such as orders=acct_/],
    ['HOOKLINE_NEXUS_ACCOUNTS', `a=${ACCOUNT},a=${ACCOUNT}`, /the task queue a must have one account/],
    ['HOOKLINE_NEXUS_ACCOUNTS', manyQueues(21), /at most 20 task queues/],
    ['HOOKLINE_PORT', '70000', /HOOKLINE_PORT: /],
    ['HOOKLINE_PORT', 'http', /HOOKLINE_PORT: /],
    ['HOOKLINE_ALLOW_HTTP', 'yes', /HOOKLINE_ALLOW_HTTP: /],
    ['HOOKLINE_LOG_LEVEL', 'loud', /HOOKLINE_LOG_LEVEL: /],
    ['HOOKLINE_RETENTION_DAYS', '0', /HOOKLINE_RETENTION_DAYS: /],
    ['HOOKLINE_RETRY_SHEDULE', '5s', /HOOKLINE_RETRY_SHEDULE: there is no such setting/],
  ];
  for (const [name, value, message] of refused) {
    it(`${name}=${value} is refused by name`, () => {
      assert.throws(
        () => loadSettings({ [name]: value }),
        (error: Error) => {
          assert.ok(error instanceof SettingsError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it('that are secret are not quoted by a complaint', () => {
    const wrong = {
      HOOKLINE_SMTP_URL: 'https://user:s3cret@mail.example.com',
      HOOKLINE_ALERT_CHAT_URL: 'http://chat.example.com/s3cret',
      OTEL_EXPORTER_OTLP_HEADERS: 's3cret',
    };
    assert.throws(
      () => loadSettings(wrong),
      ({ message }: Error) =>
        Object.keys(wrong).every((name) => message.includes(name)) && !message.includes('s3cret'),
    );
  });

  it('are all checked before the first complaint', () => {
    assert.throws(
      () => loadSettings({ HOOKLINE_PORT: 'x', HOOKLINE_PARK_LIMIT: 'y', HOOKLINE_NONSENSE: 'z' }),
      /HOOKLINE_NONSENSE[\s\S]*HOOKLINE_PORT[\s\S]*HOOKLINE_PARK_LIMIT/,
    );
  });

  it('of other programs are left alone', () => {
    loadSettings({ PATH: '/bin', HOOK: 'x', HOOKLINE_DEMO_ANYTHING: '1' });
  });
});
