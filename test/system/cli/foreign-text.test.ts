import { deepEqual, doesNotMatch, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { CLIENT_COMMANDS } from '../../../src/bin/client/commands.js';
import { CLOSE_CODES } from '../../../src/domain/listener/listener.js';
import { folderOfEach } from '../../support/folder.js';
import { sampleLog } from '../../support/outside/certificates.js';
import { inProcess } from '../../support/programs/command.js';

/** Text that would hide the rest of a line, begin another, or turn one round, in 7 and in 8 bits. */
const HOSTILE = '\u001b[8m\nFORGED\r\u009b8m\u202e\u2028FORGED\u0085FORGED\u0007';
const DELIVERY = 'dlv_01M7Y2V07RS2Y47QBBGSV7HTCR_01M7Y2TZZ9K3C5R4Q0V8W1XHPN';

/** Call of each command that uses a server. `outbox` needs a MongoDB as well, and is tested with it. */
const ASKED: Record<Exclude<keyof typeof CLIENT_COMMANDS, 'mcp' | 'outbox'>, string[]> = {
  login: ['--client client_1 --no-browser'],
  logout: [''],
  listen: ['', '--json'],
  trigger: ['purchase', 'purchase --wait', 'purchase --set total=5', 'nosuchkind --set total=5'],
  scheduled: ['', 'move sch_1 --deliver-at 2030-01-01', 'cancel sch_1'],
  feed: ['', 'consumers', 'consumers seek warehouse --from 2h', 'consumers delete warehouse'],
  usage: ['', '--csv'],
  publish: ['test/support/outside/lists/events.ndjson', 'test/support/outside/lists/events.ndjson --each'],
  deliveries: ['', DELIVERY, `retry ${DELIVERY}`, `resend ${DELIVERY}`, '--json'],
  timeline: [DELIVERY],
  'what-if': ['--kinds purchase', '--kinds purchase --json'],
  explain: ['ep_1 evt_1', 'ep_1 order_id:1001', 'ep_1 evt_1 --json'],
  attempts: ['--status-code 503'],
  missed: ['ep_1 --since 2d'],
  changes: ['', '--json'],
  integrity: ['dlv_1', 'evt_1', 'chg_1'],
  export: ['--from 2026-01-01 --format ndjson --gzip'],
  whoami: [''],
  events: ['', 'evt_1'],
  kinds: ['', 'show purchase'],
  accounts: ['', 'acct_1', 'create Acme'],
  keys: ['', 'create website --scopes events:write', 'revoke key_1'],
  endpoints: [
    ...[
      '',
      'ep_1',
      'create https://shop.example/ --kinds purchase',
      'pause ep_1',
      'rotate ep_1',
      'test ep_1',
    ],
    ...['delete ep_1', 'verify ep_1'],
  ],
  import: [
    'svix test/support/outside/lists/svix.json',
    'svix test/support/outside/lists/svix.json --create-kinds --json',
    'outpost test/support/outside/lists/outpost.json --create-kinds --kind order.*=*',
  ],
  replay: ['--since 2h --detach', '--since 2h --dry-run', 'rpl_1'],
  profiles: [''],
};
const OTHERS = ['verify --complete'];

type Json = Record<string, unknown>;

describe('texts that others have written', () => {
  const inFolder = folderOfEach();
  let examples: [method: string, path: RegExp, example: unknown][];
  let server: Server;
  let url: string;
  let refuses: boolean;

  before(async () => {
    examples = await readExamples();
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      const [, , example] =
        examples.find(([method, path]) => method === request.method && path.test(pathname)) ?? [];
      const isRefused = refuses || example === undefined;
      response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isRefused ? hostile(REFUSAL) : hostile(example)));
    });
    const streams = new WebSocketServer({ server });
    streams.on('connection', (socket) => {
      const headers = { 'webhook-id': 'evt_1', 'webhook-event-kind': 'purchase', 'webhook-attempt': '2' };
      const delivery = { type: 'delivery', number: 1, headers, body: '{}', timeout_ms: 1_000 };
      socket.send(JSON.stringify(hostile(delivery)));
      socket.once('message', () => socket.close(CLOSE_CODES.deleted, `gone${HOSTILE}`));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  const say = async (command: string) => {
    const environment = { HOOKLINE_URL: url, HOOKLINE_API_KEY: 'key', XDG_CONFIG_HOME: '/nonexistent' };
    const { lines, exited } = inProcess(command.split(' ').filter(Boolean), environment);
    await exited;
    return lines.join('\n');
  };

  for (const isRefusal of [false, true])
    it(`add no line and no code to ${isRefusal ? 'an error' : 'the output'} of any command`, async () => {
      refuses = isRefusal;
      const asked = Object.entries(ASKED).flatMap(([name, all]) => all.map((more) => `${name} ${more}`));
      let shown = 0;
      for (const command of [...asked, ...OTHERS]) {
        const output = await say(command);
        // Compressed, they are a file's.
        if (command.includes('--gzip') && !isRefusal) continue;
        harmless(command, output);
        if (output.includes('FORGED')) shown += 1;
      }
      // Some have nothing of others to show, or ended before they came to it.
      ok(shown > 25, `${shown} commands showed texts of others`);
    });

  it('are of every command that uses a server', () => {
    deepEqual([...Object.keys(ASKED), 'mcp', 'outbox'].sort(), Object.keys(CLIENT_COMMANDS).sort());
  });

  it('are refused in a certificate, and harmless in what is said about it', async () => {
    const log = await sampleLog(3);
    const certificate = await log.certificate(1);
    const { record, details, checkpoint, log_key } = certificate;
    const origin = 'hooks.example.com/log';
    const forged: [string, Json, RegExp][] = [
      [
        'a name of the log',
        { ...certificate, checkpoint: checkpoint.replaceAll(origin, `${origin}${HOSTILE}`) },
        /./,
      ],
      ['its key', { ...certificate, log_key: log_key.replace(origin, `${origin}\u001b[8m`) }, /./],
      ['a member', { ...certificate, [`x${HOSTILE}`]: 1 }, /Unrecognized key/],
      ['a member twice', {}, /two members with one name/],
      ...['account_id', 'delivery_id', 'event_id', 'endpoint_id', 'status'].map(
        (field): [string, Json, RegExp] => [
          field,
          { ...certificate, record: { ...record, [field]: `${String(record[field])}${HOSTILE}` } },
          new RegExp(`record.${field}`),
        ],
      ),
      ['details', { ...certificate, details: { ...details, salt: HOSTILE } }, /details.salt/],
    ];
    for (const [what, one, said] of forged) {
      const file = inFolder('certificate.json');
      const name = JSON.stringify(`a${HOSTILE}`);
      await writeFile(file, what === 'a member twice' ? `{${name}:1,${name}:2}` : JSON.stringify(one));
      const output = await say(`verify ${file}`);
      harmless(what, output);
      match(output, /^hookline: /, what);
      match(output, said, what);
    }
  });
});

const REFUSAL = {
  type: 'about:blank',
  title: 'Refused',
  status: 400,
  code: 'invalid_payload',
  detail: 'It is not valid.',
  errors: [{ pointer: '/total', detail: 'is missing' }],
};

/** It says nothing that a terminal acts upon, and no line begins as somebody else wants it to. */
function harmless(what: string, output: string): void {
  doesNotMatch(output, /^\s*FORGED/m, what);
  doesNotMatch(
    output.replaceAll('\n', ''),
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u,
    `${what}: ${JSON.stringify(output)}`,
  );
}

/** A value whose texts, and names of members, end with what is hostile. There is no next page. */
function hostile(value: unknown): unknown {
  if (typeof value === 'string') return value + HOSTILE;
  if (Array.isArray(value)) return value.map(hostile);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'next')
      .map(([name, member]) => [name, name === 'code' ? member : hostile(member)]),
  );
}

/** Examples of responses in the documentation of the API. */
async function readExamples(): Promise<[string, RegExp, unknown][]> {
  const { paths } = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  return Object.entries<Record<string, Json>>(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { responses }]): [string, RegExp, unknown] => {
      const [[, response] = []] = Object.entries(responses as Record<string, { content?: Json }>).filter(
        ([status]) => status.startsWith('2'),
      );
      const { example } = (response?.content?.['application/json'] ?? {}) as { example?: unknown };
      const closed = path === '/v18.0/replays/{id}' || path === '/v18.0/deliveries' ? CLOSED : {};
      return [
        method.toUpperCase(),
        new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        withMore(example ?? {}, closed),
      ];
    }),
  );
}

/** Delivery that has closed, so that commands which wait for the end stop. */
const CLOSED = {
  closed_at: '2026-11-21T12:00:00.000Z',
  failed: 1,
  failures: [{ id: DELIVERY, detail: 'It failed.' }],
};

function withMore(example: unknown, more: Json): unknown {
  const { data } = example as { data?: Json[] };
  return data
    ? { ...(example as Json), data: data.map((row) => ({ ...row, ...more })) }
    : { ...(example as Json), ...more };
}
