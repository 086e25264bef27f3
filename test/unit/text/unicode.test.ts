import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import fc from 'fast-check';
import { createChatSender } from '../../../activities/alert/chat.js';
import { createSend } from '../../../activities/delivery/send-attempt.js';
import type { HttpRequest } from '../../../activities/http/exchange.js';
import { oneLine } from '../../../packages/embedded-servers/src/index.js';
import { decidingClauses, describeCondition } from '../../../packages/payload-contract/src/filter/index.js';
import { invalidRequest } from '../../../src/api/http/validation.js';
import { createForwarder } from '../../../src/bin/client/listen/forward.js';
import { printJson } from '../../../src/bin/client/terminal.js';
import { renderAlerts } from '../../../src/domain/alert/alert-text.js';
import { attemptRequest } from '../../../src/domain/delivery/attempt-request.js';
import { parseUnicodeJson } from '../../../src/domain/event/payload.js';
import { parseFields } from '../../../src/domain/http/fields.js';
import { type InputError, Problem } from '../../../src/domain/http/problem.js';
import { fitSummary, MAX_SUMMARY_BYTES } from '../../../src/domain/ledger/summaries.js';
import { MAX_ANSWER_BODY } from '../../../src/domain/listener/listener.js';
import { createPayloadSealer } from '../../../src/domain/privacy/payload-sealer.js';
import { toLine } from '../../../src/domain/records/payload-line.js';
import { redactBeginning } from '../../../src/domain/text/redact.js';
import { cutText, cutToBytes, toJson, wellFormed, wellFormedJson } from '../../../src/domain/text/unicode.js';
import { operatorName } from '../../../workflows/messages.js';
import { MemoryKeys } from '../../support/parts/memory-keys.js';

const HALF = /\p{Surrogate}/u;
/** As JSON has one. */
const ESCAPED_HALF = /\\ud[89a-f]/;
const [HIGH, LOW] = ['\ud83d', '\ude00'];

/** Characters of one and of two units, and halves of some. */
const pieces = fc.constantFrom('a', 'é', '漢', '😀', '👩‍👩‍👧', HIGH, LOW, '\u2028', '"', '\\', '\n');
const texts = fc.array(pieces, { maxLength: 60 }).map((all) => all.join(''));
/** Texts that end near a limit, so that a cut meets a pair as often as not. */
const textsOf = (length: number) =>
  fc.tuple(fc.integer({ min: -3, max: 3 }), texts).map(([by, text]) => 'x'.repeat(length + by) + text);

const property = (text: fc.Arbitrary<string>, holds: (text: string) => void | Promise<void>) =>
  fc.assert(
    fc.asyncProperty(text, async (value) => holds(value)),
    { numRuns: 60 },
  );

/** Part of a response with this body and this value of a header that is stored. */
async function kept(text: string) {
  const send = createSend({
    sealer: createPayloadSealer(new MemoryKeys(), false),
    poster: {
      exchange: async () => ({
        statusCode: 200,
        headers: { server: text },
        body: text,
        bodyBytes: 1,
        isCut: true,
        trace: { timings: {} },
      }),
    },
    userAgent: 'Hookline/test',
  } as unknown as Parameters<typeof createSend>[0]);
  const event = { account_id: 'acct_1', event_id: 'evt_1', event_kind: 'purchase', accepted_at: '' };
  const attempt = { index: 0, number: 1, trigger: 'schedule' } as const;
  const request = attemptRequest({ event, endpoint_id: 'ep_1', attempt }, 5_000);
  const endpoint = {
    target_url: 'https://x.test',
    version: 1,
    secrets: () => ({ headers: {}, signing_keys: [], options: {} }),
  };
  return (await send(request, '{}', endpoint as unknown as Parameters<typeof send>[2])).attempt;
}

async function chatMessage(text: string): Promise<string> {
  let body = '';
  const exchange = async (request: HttpRequest) => {
    body = request.body ?? '';
    return { statusCode: 200, headers: {}, body: '', bodyBytes: 0, isCut: false, trace: { timings: {} } };
  };
  await createChatSender('https://chat.test', { exchange }, 'Hookline/test')({ subject: 'S', text }, 'id');
  return (JSON.parse(body) as { text: string }).text;
}

/** Text that `hookline listen` passes on of a response with this body. */
async function forwarded(text: string): Promise<string> {
  const server = createServer((_, response) => void response.end(text));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const forwarder = createForwarder(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const request = { type: 'delivery', number: 0, headers: {}, body: '{}', timeout_ms: 10_000 } as const;
  const answer = await forwarder.post(request);
  await forwarder.close();
  server.close();
  return 'body' in answer ? answer.body : assert.fail(answer.error_code);
}

/** Text that the command line prints of a response. */
function printed(value: object): string {
  const write = mock.method(process.stdout, 'write', () => true);
  try {
    printJson(value);
    return String(write.mock.calls[0]?.arguments[0]);
  } finally {
    write.mock.restore();
  }
}

/** Text about a wrong place. */
function toldOf(wrong: Partial<InputError>): string {
  const { message, errors } = invalidRequest([{ detail: 'is wrong', ...wrong }]);
  return [message, ...errors.flatMap((error) => Object.values(error))].join();
}

function fieldsRefusal(name: string): string {
  try {
    parseFields(name.replaceAll(',', ''), []);
  } catch (error) {
    if (error instanceof Problem) return error.message;
  }
  throw new Error('it was not refused');
}

describe('a text', () => {
  it('is cut between characters, with its mark in the length', () => {
    assert.equal(cutText('ab😀', 4), 'ab😀');
    assert.equal(cutText('ab😀', 3), 'ab');
    assert.equal(cutText('ab😀cd', 5, '…'), 'ab😀…');
    assert.equal(cutText('ab😀cd', 4, '…'), 'ab…');
    assert.equal(cutText('😀', 1), '');
    assert.equal(cutToBytes('é😀', 5), 'é');
    assert.equal(cutToBytes('é😀', 6), 'é😀');
  });

  it('is well-formed wherever it is cut, as long as it may be, and the beginning of the whole', () =>
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 80 }), (text, most) => {
        for (const mark of ['', '…']) {
          const cut = cutText(text, most, mark);
          assert.doesNotMatch(cut, HALF);
          assert.ok(cut.length <= most);
          const isWhole = text.length <= most;
          assert.ok(
            wellFormed(text).startsWith(isWhole ? cut : cut.slice(0, cut.length - mark.length)) ||
              HALF.test(text),
          );
          assert.ok(isWhole ? cut === wellFormed(text) : cut.length >= most - 1);
        }
        const fitted = cutToBytes(text, most);
        assert.doesNotMatch(fitted, HALF);
        assert.ok(Buffer.byteLength(fitted) <= most);
      }),
    ));

  const cuts: [string, number, (text: string) => string | undefined | Promise<string | undefined>][] = [
    ['of an answer that is kept', 1_024, async (text) => (await kept(text)).response_snippet],
    ['of a header that is kept', 256, async (text) => (await kept(text)).response_headers?.['server']],
    ['of a chat message', 2_000 - 'S\n\n'.length, chatMessage],
    [
      'of what an alert repeats',
      300,
      (said) =>
        renderAlerts({
          alerts: [{ id: '', kind: 'endpoint.failing', at: '', account_id: '', endpoint_id: '', said }],
          left_out: 0,
        }).text,
    ],
    ['of a summary', MAX_SUMMARY_BYTES, fitSummary],
    ['of an unknown field', 64, fieldsRefusal],
    ['of what a refusal says', 8_000, (text) => new Problem('invalid_request', text).message],
    ['of a pointer', 200, (text) => toldOf({ pointer: text })],
    ['of the name of a parameter', 200, (text) => toldOf({ parameter: text })],
    ['of what is wrong with it', 1_000, (text) => toldOf({ pointer: '', detail: text })],
    ['of a condition', 100, (text) => describeCondition({ path: '/a', equals: text })],
    [
      'of what a payload had instead',
      100,
      (text) => toJson(decidingClauses({ path: '/a', equals: 'other' }, { a: text })),
    ],
    ['of an answer that is passed on', MAX_ANSWER_BODY, forwarded],
    ['before a secret that is cut', 20, (text) => redactBeginning(`${text}secr`, ['secret-token'])],
    ['of the name of an operator', 200, operatorName],
    ['of an error of an embedded server', 199, (text) => oneLine(new Error(wellFormed(text)))],
  ];
  for (const [name, length, cut] of cuts)
    it(`is well-formed: the beginning ${name}`, () =>
      property(textsOf(length), async (text) => {
        const beginning = (await cut(text)) ?? '';
        assert.doesNotMatch(beginning, HALF);
        assert.doesNotMatch(beginning, ESCAPED_HALF);
      }));
});

describe('JSON', () => {
  it('is written in well-formed Unicode, and otherwise as JSON.stringify does', () =>
    property(texts, (text) => {
      const value = { [`name ${text}`]: [text], nothing: null };
      const json = toJson(value);
      assert.deepEqual(JSON.parse(json), { [`name ${wellFormed(text)}`]: [wellFormed(text)], nothing: null });
      if (!HALF.test(text)) assert.equal(json, JSON.stringify(value));
      for (const written of [toLine(value), printed(value)])
        assert.deepEqual(JSON.parse(written), JSON.parse(json));
    }));

  it('of others loses halves of pairs that it has as escapes, and nothing else', () => {
    const escaped = (text: string) =>
      [...Array(text.length).keys()]
        .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`)
        .join('');
    for (const text of [`a😀b`, `${HIGH}a`, `${LOW}${HIGH}`, `\\${HIGH}`, `😀${LOW}`, `${HIGH}😀`]) {
      const json = `["${escaped(text)}","\\\\ud83d", "\\n\\u00e9"]`;
      assert.deepEqual(JSON.parse(wellFormedJson(json)), [wellFormed(text), '\\ud83d', '\né']);
      if (!HALF.test(text)) assert.equal(wellFormedJson(json), json);
    }
    assert.equal(wellFormedJson('{"a": "\\uD83D"}'), '{"a": "\\ufffd"}');
  });

  it('that is to be kept is refused with half of a pair', () => {
    assert.deepEqual(parseUnicodeJson('{"a":"\\ud83d\\ude00 \\\\ud83d"}'), { a: '😀 \\ud83d' });
    for (const half of ['\\ud83d', '\\ude00', '\\uDE00\\uD83D'])
      assert.throws(() => parseUnicodeJson(`{"a":"${half}"}`), { code: 'invalid_json' });
  });
});
