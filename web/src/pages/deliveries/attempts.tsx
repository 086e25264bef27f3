import type { Attempt, Delivery } from '../../api/types.js';
import { formatMs } from '../../parts/deliveries/attempt-text.js';
import { Card } from '../../shell/page.js';
import { AnswerBadge, DeliveryBadge } from '../../ui/badge.js';
import { Code, CopyButton } from '../../ui/copy.js';
import { formatCount } from '../../ui/count.js';
import { Empty } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { curlOf } from './curl.js';

const TRIGGERS: Record<Attempt['trigger'], string> = {
  schedule: '',
  retry_after: 'when the endpoint asked for it',
  manual: 'on request',
  released: 'when the endpoint responded again',
  probe: 'probe of its endpoint',
};

const STEPS = [
  ['dns', 'DNS'],
  ['connect', 'Connect'],
  ['tls', 'TLS'],
  ['first_byte', 'Waiting'],
] as const;

/** Every attempt of a delivery, the latest first, and those of earlier runs. */
export function Attempts({
  delivery,
  payload,
}: {
  delivery: Delivery;
  /** As it was received; absent while it is not known. */
  payload: string | undefined;
}) {
  const { attempts, earlier_runs = [] } = delivery;
  return (
    <>
      <Card title={attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`} bare>
        {attempts.length === 0 ? (
          <Empty title="No attempt has been made yet" />
        ) : (
          [...attempts]
            .reverse()
            .map((attempt, index) => (
              <AttemptDetails
                key={attempt.number}
                attempt={attempt}
                delivery={delivery}
                payload={payload}
                open={index === 0}
              />
            ))
        )}
      </Card>
      {earlier_runs.map((run) => (
        <Card
          key={run.run_id}
          title="Before it was sent again"
          actions={
            <span className="row muted small">
              <DeliveryBadge status={run.status} />
              {run.closed_at && <Time at={run.closed_at} />}
            </span>
          }
          bare
        >
          {[...run.attempts].reverse().map((attempt) => (
            <AttemptDetails
              key={attempt.number}
              attempt={attempt}
              delivery={delivery}
              payload={payload}
              open={false}
            />
          ))}
        </Card>
      ))}
    </>
  );
}

function AttemptDetails({
  attempt,
  delivery,
  payload,
  open,
}: {
  attempt: Attempt;
  delivery: Delivery;
  payload: string | undefined;
  open: boolean;
}) {
  const why = TRIGGERS[attempt.trigger];
  return (
    <details className="attempt" open={open}>
      <summary>
        <strong>Attempt {attempt.number}</strong>
        <AnswerBadge {...attempt} />
        <span className="muted">
          <Time at={attempt.at} show="precise" /> · {formatMs(attempt.duration_ms)}
          {why && ` · ${why}`}
        </span>
      </summary>
      <div className="inside">
        <Timings attempt={attempt} />
        <div className="exchange">
          <div className="stack tight">
            <div className="row apart">
              <h3>Request</h3>
              <span className="row small muted">
                as cURL <CopyButton text={curlOf(attempt, delivery, payload)} name="the request as cURL" />
              </span>
            </div>
            <Code text={requestOf(attempt, delivery)} name="the request" />
          </div>
          <div className="stack tight">
            <h3>Response</h3>
            <Code text={answerOf(attempt)} name="the response" />
          </div>
        </div>
        <p className="muted small">
          {attempt.address ? `Sent to ${attempt.address}. ` : ''}
          {attempt.endpoint_version !== undefined &&
            `The endpoint was at version ${attempt.endpoint_version}. `}
          {lengthOf(attempt)}
        </p>
      </div>
    </details>
  );
}

/**
 * Where the time went: each step as long as it took, of the whole attempt. The rest was spent until the end, or for
 * nothing.
 */
function Timings({ attempt }: { attempt: Attempt }) {
  const { timings_ms = {}, duration_ms } = attempt;
  const known = STEPS.flatMap(([name, text]) => {
    const ms = timings_ms[name];
    return ms === undefined ? [] : [{ name: name as string, text: text as string, ms }];
  });
  const rest = duration_ms - known.reduce((sum, { ms }) => sum + ms, 0);
  const steps = rest > 0 ? [...known, { name: 'rest', text: restOf(attempt), ms: rest }] : known;
  if (steps.length === 0) return null;
  return (
    <div className="stack tight">
      <div className="timings" aria-hidden="true">
        {steps.map(({ name, ms }) => (
          <span key={name} className={name} style={{ flexGrow: ms }} />
        ))}
      </div>
      <div className="row">
        {steps.map(({ name, text, ms }) => (
          <span key={name} className={`key ${name}`}>
            {text} {formatMs(ms)}
          </span>
        ))}
      </div>
    </div>
  );
}

/** Use of the time that no step has. */
function restOf({ status_code, error_code }: Attempt): string {
  if (status_code !== undefined) return 'Reading the response';
  return error_code === 'timeout' ? 'Waiting for a response' : 'Until it failed';
}

/** The request as it went out, without its signature, which is not kept. */
function requestOf(
  { url, url_host, number, webhook_timestamp, request_bytes }: Attempt,
  delivery: Delivery,
): string {
  return [
    `POST ${url ?? `https://${url_host}/`}`,
    'content-type: application/json',
    ...(request_bytes === undefined ? [] : [`content-length: ${request_bytes}`]),
    `webhook-id: ${delivery.event_id}`,
    `webhook-timestamp: ${webhook_timestamp}`,
    'webhook-signature: v1,…',
    `webhook-event-kind: ${delivery.event_kind}`,
    `webhook-attempt: ${number}`,
  ].join('\n');
}

/** How long the response was, and the digest of what was read of it. */
function lengthOf({ response_bytes = 0, response_cut, response_length, response_sha256 }: Attempt): string {
  if (!response_sha256) return '';
  const read = `${formatCount(response_bytes)} bytes`;
  const whole = response_length === undefined ? 'more' : formatCount(response_length);
  return `The response has ${response_cut ? `${whole}, of which ${read} were read` : read}; SHA-256 of them: ${response_sha256}. `;
}

/** The response as far as it was kept, or why there was none. */
function answerOf(attempt: Attempt): string {
  const { status_code, error_code, error, response_headers = {}, response_snippet } = attempt;
  const headers = Object.entries(response_headers).map(([name, value]) => `${name}: ${value}`);
  const head = status_code === undefined ? [] : [`HTTP ${status_code}`, ...headers];
  const failure =
    error_code === undefined ? [] : [`No complete response: ${error_code}`, ...(error ? [error] : [])];
  return [...head, ...failure, ...(response_snippet ? ['', response_snippet] : [])].join('\n');
}
