import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { pino } from 'pino';
import type { ApiClient } from '../../support/api-client.js';
import { fetchHistory, workflowIdOf } from '../../support/history.js';
import { startTraceCollector, type TraceCollector } from '../../support/outside/trace-collector.js';
import { startGroup } from '../../support/parts/start-group.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { ONE_BY_ONE, sharedSystem, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

describe('tracing', () => {
  let collector: TraceCollector;
  let subscriber: Receiver;
  let system: TestSystem;
  let client: ApiClient;
  const log: string[] = [];

  before(async () => {
    [collector, subscriber] = await Promise.all([startTraceCollector(), startReceiver()]);
    system = await startSystem(
      {
        HOOKLINE_RETRY_SCHEDULE: '100ms',
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20c0llector',
        OTEL_SERVICE_NAME: 'hooks',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
      'all',
      pino({ level: 'info' }, { write: (line: string) => void log.push(line) }),
    );
    client = await system.account();
    await client.register(`${subscriber.url}/hooks?token=s3cret`);
  });
  after(async () => {
    await system.stop();
    await Promise.all([subscriber.close(), collector.receiver.close()]);
  });

  it("continues a producer's trace through request, delivery and attempts to the subscriber", async () => {
    subscriber.handle(inTurn(reply(503), reply(200)));
    const state = { tracestate: 'vendor=t61rcWkgMzE, other@vendor=1' };
    const event = await client.purchase(undefined, { traceparent: `00-${TRACE}-${SPAN}-01`, ...state });
    const id = event.deliveries[0]?.id;
    const delivery = await collector.span(
      ({ name, traceId }) => name === 'deliver purchase' && traceId === TRACE,
    );
    const request = await collector.span(({ name, traceId }) => name === 'acceptEvent' && traceId === TRACE);
    const first = await collector.span(({ name, traceId }) => name === 'attempt 1' && traceId === TRACE);
    const second = await collector.span(({ name, traceId }) => name === 'attempt 2' && traceId === TRACE);

    deepEqual([request.parentSpanId, request.kind, request.service], [SPAN, SERVER, 'hooks']);
    equal(request.attributes['http.response.status_code'], 202);
    equal(delivery.parentSpanId, request.spanId);
    equal(delivery.attributes['hookline.delivery_id'], id);
    equal(delivery.attributes['hookline.status'], 'delivered');
    for (const attempt of [first, second]) {
      deepEqual([attempt.parentSpanId, attempt.kind], [delivery.spanId, CLIENT]);
      ok(BigInt(attempt.startTimeUnixNano) >= BigInt(delivery.startTimeUnixNano));
      ok(BigInt(attempt.endTimeUnixNano) <= BigInt(delivery.endTimeUnixNano) + 1_000_000n);
    }
    deepEqual([first.status.code, first.attributes['error.type']], [ERROR, '503']);
    notEqual(second.status.code, ERROR);
    deepEqual(
      subscriber.received.map(({ headers }) => headers['traceparent']),
      [first, second].map(({ spanId }) => `00-${TRACE}-${spanId}-01`),
    );
    deepEqual(
      subscriber.received.map(({ headers }) => headers['tracestate']),
      ['vendor=t61rcWkgMzE,other@vendor=1', 'vendor=t61rcWkgMzE,other@vendor=1'],
    );
  });

  it('begins a trace for a producer that sends none, or not a valid one', async () => {
    for (const traceparent of ['', 'nonsense']) {
      const tracestate = 'vendor=1';
      const event = await client.purchase(undefined, traceparent ? { traceparent, tracestate } : {});
      const delivery = await collector.span(
        (span) => span.attributes['hookline.event_id'] === event.id && span.name === 'deliver purchase',
      );
      const request = await collector.span(({ spanId }) => spanId === delivery.parentSpanId);
      equal(request.parentSpanId, undefined);
      notEqual(request.traceId, TRACE);
      // Without a trace there is nothing that it could be the state of.
      const attempt = ({ headers }: { headers: IncomingHttpHeaders }) => headers['webhook-id'] === event.id;
      equal(subscriber.received.find(attempt)?.headers['tracestate'], undefined);
    }
  });

  it('gives what is sent again the trace of the request that asked for it', async () => {
    const trace = TRACE.replace('4', '5');
    const { id = '' } = (await client.purchase()).deliveries[0] ?? {};
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    await client.request('POST', `/v18.0/deliveries/${id}/resend`, {
      headers: { traceparent: `00-${trace}-${SPAN}-01`, tracestate: 'resent=1' },
    });
    const attempt = await collector.span(({ name, traceId }) => name === 'attempt 1' && traceId === trace);
    const delivery = await collector.span(({ spanId }) => spanId === attempt.parentSpanId);
    const request = await collector.span(({ spanId }) => spanId === delivery.parentSpanId);
    deepEqual([request.name, request.parentSpanId], ['resendDelivery', SPAN]);
    equal(subscriber.received.at(-1)?.headers['tracestate'], 'resent=1');
  });

  it('traces each delivery of a group by its own event, and passes on what is not recorded', async () => {
    subscriber.handle(reply(200));
    const before = subscriber.received.length;
    const [{ id: endpointId }] = (await client.request('GET', '/v18.0/endpoints')).json.data;
    const traceparents = [
      `00-${TRACE.replace('4', '6')}-${SPAN}-01`,
      `00-${TRACE.replace('4', '7')}-${SPAN}-00`,
    ];
    const given = traceparents.values();
    await startGroup(system, client, endpointId, [Date.now(), Date.now()], async (event) => ({
      ...event,
      traceparent: given.next().value,
    }));
    const [one] = await until(
      () => collector.spans().filter(({ traceId }) => traceId === TRACE.replace('4', '6')),
      (spans) => spans.length === 2,
    );
    ok(one);
    const all = await subscriber.waitFor(({ length }) => length >= before + 2);
    const sent = all.slice(before).map(({ headers }) => headers['traceparent'] ?? '');
    deepEqual(sent.map((text) => text.replace(/-[\da-f]{16}-/, '-…-')).sort(), [
      `00-${TRACE.replace('4', '6')}-…-01`,
      `00-${TRACE.replace('4', '7')}-…-00`,
    ]);
    equal(collector.spans().filter(({ traceId }) => traceId === TRACE.replace('4', '7')).length, 0);
  });

  it('posts with the configured headers, and nothing secret or of a payload', async () => {
    await collector.span(({ name }) => name === 'attempt 1');
    for (const { headers, body } of collector.receiver.received) {
      equal(headers['authorization'], 'Bearer c0llector');
      doesNotMatch(body.toString(), /s3cret|\/hooks|ada@example|Notebook|c0llector/);
      ok(!body.toString().includes(client.key));
    }
  });

  it('drops what a collector that is away does not take, says so once, and delivers all the same', async () => {
    collector.receiver.handle(reply(400));
    for (let posts = 0; posts < 2; posts += 1) {
      const before = collector.receiver.received.length;
      const { id = '' } = (await client.purchase()).deliveries[0] ?? {};
      await client.deliveryUntil(id, ({ status }) => status === 'delivered');
      await until(
        () => collector.receiver.received.length,
        (count) => count > before,
      );
    }
    collector.receiver.handle(reply(200));
    await client.purchase();
    await until(
      () => log.filter((line) => line.includes('can be posted again')).length,
      (count) => count === 1,
    );
    equal(log.filter((line) => line.includes('Traces cannot be posted')).length, 1);
    ok(!log.some((line) => line.includes('c0llector')));
  });
});

describe('without a collector', () => {
  it('nothing is traced: no header to the subscriber, nothing in the ledger', async () => {
    const system = await sharedSystem(ONE_BY_ONE);
    const subscriber = await startReceiver();
    try {
      const client = await system.account();
      await client.register(subscriber.url);
      const event = await client.purchase(undefined, { traceparent: `00-${TRACE}-${SPAN}-01` });
      const [posted] = await subscriber.waitFor((received) => received.length === 1);
      equal(posted?.headers['traceparent'], undefined);
      const workflowId = workflowIdOf(client, event.deliveries[0]?.id ?? '');
      // The first attempt waits for no start.
      const [started] = await until(
        async () => (await fetchHistory(system, workflowId).catch(() => undefined))?.events ?? [],
        (events) => events.length > 0,
      );
      const [input] = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
      const text = Buffer.from(input?.data ?? []).toString();
      match(text, /"event_kind":"purchase"/);
      doesNotMatch(text, /traceparent/);
    } finally {
      await subscriber.close();
    }
  });
});
