import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { exportLines } from '../../../src/api/routes/exports/export-lines.js';
import { linesOf } from '../../../src/bin/client/export.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { PayloadForm } from '../../../src/domain/records/payload-line.js';
import type { ExportedEvent } from '../../../src/models/records/record-reader.js';
import { anyCharacter } from '../../support/parts/any-character.js';
import { hasProgram } from '../../support/programs/programs.js';
import { hasPython, runPython } from '../../support/programs/python.js';

const PAYLOADS = [
  '{"a":1}',
  '{"a" :\t[ 1 , 2 ] }',
  '{\n  "a": 1\n}\n',
  '\r\n{\r\n"a":\r1}',
  ' \t\r\n{ "a":[\n1\r,\t2 ] }\n\n',
  '{"a":"\u2028\u2029\u0085"}',
  '{"a":"\\n\\u2028"}',
  '{\n"big":123456789012345678901234567890,"exact":12.50}',
  '{"a":"\\ud83d"}',
  '{"a":"\\ud83d\\ude00 😀 \\\\ud83d"}',
  'null',
];

interface Line {
  type: string;
  after: string;
  payload_bytes: number;
  payload: unknown;
  payload_text?: string;
}

async function* each<T>(items: readonly T[]) {
  yield* items;
}

/** The lines of an export of events with these payloads, as the API sends them. */
async function exported(
  payloads: readonly (string | undefined)[],
  form: PayloadForm = 'json',
): Promise<string> {
  const events = payloads.map((payload, at) => ({
    event: {
      id: newId('event', 1_700_000_000_000 + at),
      event_kind: 'note',
      accepted_at: new Date(1_700_000_000_000 + at),
      payload_bytes: Buffer.byteLength(payload ?? ''),
      payload,
    },
    deliveries: [],
  })) as unknown as ExportedEvent[];
  let text = '';
  const exportedOf = { events: each(events), changes: each([]) };
  for await (const line of exportLines('acct_1', exportedOf, undefined, form)) text += line;
  return text;
}

/** The bytes of a payload as docs/records.md says that they are found. */
function bytesIn(line: string): string {
  const { payload_text, payload_bytes } = JSON.parse(line) as Line;
  const bytes = Buffer.from(line).subarray(0, -1);
  return payload_text ?? bytes.subarray(bytes.length - payload_bytes).toString();
}

const meant = (payload: string) => JSON.parse(payload.replace('\\ud83d"', '\\ufffd"'));

describe('the payloads of an export', () => {
  it('are each on a line, with their value and their bytes', async () => {
    const lines = (await exported(PAYLOADS)).split('\n');
    assert.equal(lines.pop(), '');
    assert.deepEqual(lines.map(bytesIn), PAYLOADS);
    const values = PAYLOADS.map((payload) =>
      payload.includes('\\\\ud83d') ? JSON.parse(payload) : meant(payload),
    );
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as Line).payload),
      values,
    );
    assert.deepEqual(JSON.parse(await exported([undefined])).payload, null);
    const isPlain = lines.map((line) => (JSON.parse(line) as Line).payload_text === undefined);
    assert.deepEqual(isPlain, [true, true, false, false, false, false, true, false, false, true, true]);
  });

  it('keep their bytes with white space of JSON between any tokens', () => {
    const space = fc
      .array(fc.constantFrom(' ', '\t', '\n', '\r'), { maxLength: 3 })
      .map((all) => all.join(''));
    const json = fc
      .tuple(fc.json({ stringUnit: anyCharacter }), fc.array(space, { minLength: 2 }))
      .map(([text, spaces]) => {
        let at = 0;
        return (
          text.replace(/"(?:\\.|[^"\\])*"|[[\]{},:]/g, (token) => `${spaces[at++ % spaces.length]}${token}`) +
          spaces[0]
        );
      });
    return fc.assert(
      fc.asyncProperty(json, async (payload) => {
        const lines = (await exported([payload])).split(/[\n\r\u0085\u2028\u2029]/);
        assert.equal(lines.length, 2);
        assert.equal(bytesIn(lines[0] ?? ''), payload);
        if (!/\\ud[89a-f]/i.test(payload) && !/\p{Surrogate}/u.test(payload))
          assert.deepEqual(JSON.parse(lines[0] ?? '').payload, JSON.parse(payload));
      }),
      { numRuns: 200 },
    );
  });

  /** Lines that readers refuse that take no other numbers, and no deeper lists, than their own: with the whole file. */
  const REFUSED = [
    '{"n":99999999999999999999}',
    '{"n":1e400}',
    `{"deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    '[1,"x"]',
  ];

  it('are strings of what was received, if they are asked for as text', async () => {
    const lines = (await exported([...PAYLOADS, ...REFUSED, undefined], 'text')).split('\n');
    assert.equal(lines.pop(), '');
    const read = lines.map((line) => JSON.parse(line) as Line);
    assert.deepEqual(
      read.map(({ payload }) => payload),
      [...PAYLOADS, ...REFUSED, null],
    );
    for (const line of read) assert.equal(line.payload_text, undefined);
    for (const line of lines) assert.doesNotMatch(line, /[\r\u0085\u2028\u2029]/);
  });

  it('as text are read by jq, whatever they hold', async function () {
    if (!hasProgram('jq', '--version')) this.skip();
    const text = execFileSync('jq', ['-r', '.payload'], { input: await exported(REFUSED, 'text') });
    assert.deepEqual(text.toString().trim().split('\n'), REFUSED);
  });

  it('are read back by the command line', async () => {
    const text = await exported(PAYLOADS);
    // In pieces that end anywhere, also within a character.
    const server = createServer(async (_request, response) => {
      for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
      response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    let received = '';
    const connection = { url: `http://127.0.0.1:${port}`, token: async () => 'key' };
    for await (const line of linesOf(connection, new URLSearchParams())) received += line;
    assert.equal(received, text);
    server.close();
  });

  it('are read back by Python', async function () {
    if (!hasPython()) this.skip();
    const program = `
import json, sys
text = sys.stdin.buffer.read().decode()
for lines in (text.splitlines(), text.rstrip("\\n").split("\\n")):
    back = []
    for line in lines:
        line = json.loads(line)
        line["payload"] = json.dumps(line["payload"]).encode().decode()
        back.append(line.get("payload_text"))
    print(json.dumps([len(lines), back]))
`;
    const texts = PAYLOADS.map((payload, at) => ([0, 1, 6, 9, 10].includes(at) ? null : payload));
    for (const line of (await runPython(program, await exported(PAYLOADS))).trim().split('\n'))
      assert.deepEqual(JSON.parse(line), [PAYLOADS.length, texts]);
  });

  it('are read back by jq', async function () {
    if (!hasProgram('jq', '--version')) this.skip();
    const text = execFileSync('jq', ['-c', '.payload_text // "plain"'], { input: await exported(PAYLOADS) });
    const texts = PAYLOADS.map((payload, at) => ([0, 1, 6, 9, 10].includes(at) ? 'plain' : payload));
    assert.deepEqual(
      text
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      texts,
    );
  });
});
