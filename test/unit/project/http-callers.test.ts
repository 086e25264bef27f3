import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { createAddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import { createAddressGuard, createPoster } from '../../../packages/egress/src/index.js';
import {
  newSigningKey,
  newWitnessKey,
  readSigningKey,
  readWitnessSigner,
  signCheckpoint,
} from '../../../packages/tlog/src/index.js';
import { client } from '../../../src/bin/client/connection.js';
import { linesOf } from '../../../src/bin/client/export.js';
import { createForwarder } from '../../../src/bin/client/listen/forward.js';
import { discover } from '../../../src/bin/client/login/server.js';
import { boundedFetch } from '../../../src/bin/process/bounded-fetch.js';
import { metricsPage } from '../../../src/bin/service/counts/metrics-page.js';
import { createListenerExchange } from '../../../src/bin/service/listeners/listener-exchange.js';
import { createCheckpointCopy } from '../../../src/bin/service/log/checkpoint-copy.js';
import { createStamp } from '../../../src/bin/service/log/timestamps.js';
import { createCosign, parseWitnesses } from '../../../src/bin/service/log/witnesses.js';
import { MAX_PROVIDER_BYTES, providerFetch } from '../../../src/bin/service/openid.js';
import { loadSettings } from '../../../src/config/load.js';
import { newSecretKey } from '../../../src/domain/access/secret-box.js';

const MIB = 1_024 * 1_024;
/** Length of a response that nobody would end, beyond what the sockets of both sides hold, bytes. */
const ENDLESS = 96 * MIB;
const ON_THE_WAY = 24 * MIB;
/** Pieces of 32 MiB each, compressed: 2 GiB in all. */
const ENCODED_PIECES = 64;

const settings = loadSettings({ HOOKLINE_SECRET_KEYS: newSecretKey() });
const allowed = createAddressPolicy({
  allowedNetworks: ['127.0.0.0/8'],
  deniedNetworks: [],
  allowedPorts: ['1-65535'],
});

/** A caller of HTTP: a call of it to that address, and the most that it reads, bytes. */
interface Caller {
  call(url: string): Promise<unknown>;
  most: number;
  /** Takes encoded responses as well, which it reads piece by piece. */
  streams?: true;
}

/** Every file that makes requests to somewhere, with a call; or where the bound of what it reads is. */
const CALLERS: Record<string, Caller | string> = {
  'packages/egress/src/poster.ts': {
    most: 16 * 1_024,
    async call(url) {
      const poster = createPoster({ guard: createAddressGuard({ policy: allowed }), extraCa: [] });
      try {
        const answer = await poster.exchange({ method: 'POST', url, headers: {}, timeoutMs: 20_000 });
        assert.ok('isCut' in answer && answer.isCut);
      } finally {
        await poster.close();
      }
    },
  },
  'activities/delivery/authorization/access-tokens.ts': 'by oauth4webapi through the poster',
  'packages/egress/src/connector.ts': 'opens connections for the poster, and reads nothing',
  'packages/egress/src/tunnel.ts': 'Node.js reads 16 KiB of headers; a body is not read',
  'activities/alert/mail.ts': 'SMTP; nodemailer reads 1 MiB of a response (MAX_RESPONSE_SIZE)',
  'clients/typescript/src/client.ts': 'a library for others; commands give it a fetch that is bounded',
  'src/api/listeners/upgrade.ts': 'a server of WebSockets; it bounds each message',
  'src/api/oauth/provider.ts': 'oidc-provider has a fetch that fetches nothing',
  'src/bin/process/bounded-fetch.ts': {
    most: MIB,
    call: async (url) => (await boundedFetch(MIB)(url)).arrayBuffer(),
  },
  'src/bin/client/connection.ts': {
    most: 32 * MIB,
    call: async (url) => (await client({ url, token: async () => 'hk_test' })).get('/v18.0/event_kinds', {}),
  },
  'src/bin/client/export.ts': {
    most: 32 * MIB,
    streams: true,
    call: async (url) => {
      for await (const _ of linesOf({ url, token: async () => 'hk_test' }, new URLSearchParams()));
    },
  },
  'src/bin/demo.ts': 'by the fetch of bounded-fetch.ts',
  'src/bin/dev.ts': 'by the fetch of bounded-fetch.ts',
  'src/bin/client/listen/listen.ts': 'by the fetch of bounded-fetch.ts',
  'src/bin/client/listen/forward.ts': {
    most: 3 * 16 * 1_024,
    async call(url) {
      const forwarder = createForwarder(url);
      const request = { type: 'delivery', number: 1, headers: {}, body: '{}', timeout_ms: 20_000 } as const;
      const answer = await forwarder.post(request);
      await forwarder.close();
      assert.equal(answer.type, 'response');
    },
  },
  'src/bin/client/listen/stream.ts': 'WebSocket; maxPayload, and no compression',
  'src/bin/client/login/login.ts': 'by oauth4webapi with the options of server.ts',
  'src/bin/client/login/server.ts': {
    most: 32 * MIB,
    call: (url) => discover({ url, client_id: 'client_test' }),
  },
  'src/bin/client/login/tokens.ts': 'by oauth4webapi with the options of server.ts',
  'src/bin/service/counts/metrics-page.ts': {
    most: 16 * MIB,
    async call(url) {
      const page = metricsPage(new Registry(), { sdkAddress: new URL(url).host });
      assert.match(await page.text(), /The metrics of Temporal's SDK could not be read/);
    },
  },
  'src/bin/service/listeners/listener-exchange.ts': {
    most: MIB,
    async call(url) {
      const database = { listeners: { holder: async () => url } };
      const exchange = createListenerExchange(settings, { database } as never, undefined);
      const request = { method: 'POST', url: '', headers: {}, body: '{}', timeoutMs: 20_000 } as const;
      assert.ok('error_code' in (await exchange('ep_1', request)));
    },
  },
  'src/bin/service/log/checkpoint-copy.ts': {
    most: 64 * 1_024,
    call: (url) => assert.rejects(async () => createCheckpointCopy(url)?.read(), /the copy of the last/),
  },
  'src/bin/service/log/timestamps.ts': {
    most: 32 * 1_024,
    async call(url) {
      const failed: string[] = [];
      const watch = { stamped: () => assert.fail(), notStamped: (why: string) => failed.push(why) };
      const stamp = createStamp({ ...settings, HOOKLINE_LOG_TIMESTAMP_URL: url }, watch as never);
      const log = readSigningKey(newSigningKey('hooks.example.com/log'));
      assert.equal(await stamp?.(signCheckpoint(1, Buffer.alloc(32), [log])), undefined);
      assert.match(failed[0] ?? '', /longer than 32768 bytes/);
    },
  },
  'src/bin/service/log/witnesses.ts': {
    most: 16 * 1_024,
    async call(url) {
      const { verifier } = readWitnessSigner(newWitnessKey('witness.example.com'));
      const failed: string[] = [];
      const cosign = createCosign(parseWitnesses(`${verifier.text}@${url}`), (_, why) => failed.push(why));
      assert.equal(await cosign?.({ note: 'note\n\n', size: 1, proofFrom: async () => [] }), 'note\n\n');
      assert.match(failed[0] ?? '', /longer than 16384 bytes|is encoded/);
    },
  },
  'src/api/openid/provider.ts': 'by oauth4webapi through the fetch of openid.ts',
  'src/bin/service/openid.ts': {
    most: MAX_PROVIDER_BYTES,
    call: (url) =>
      assert.rejects(
        providerFetch(settings)(url, { method: 'GET', headers: {} }),
        /longer than 262144 bytes/,
      ),
  },
  'src/bin/service/watch/open-telemetry.ts': 'the exporter reads 4 MiB (MAX_RESPONSE_BODY_SIZE)',
  'packages/embedded-servers/src/binaries/mongo-binary.ts':
    'a process of its own, whose file is compared with its checksum',
  'packages/embedded-servers/src/binaries/temporal-binary.ts':
    'a process of its own, given up when nothing arrives',
  'packages/embedded-servers/src/servers/ui-proxy.ts':
    'passes on what Temporal UI answers piece by piece, and keeps nothing',
};

const FOLDERS = ['activities', 'clients/typescript/src', 'packages', 'src', 'workflows'];
/** Code that makes requests: `fetch`, what is made of it, and packages with a client in them. */
const FETCH = /(?<![.\w])fetch\(|\bbounded(Fetch|Request)\b|globalThis\.fetch\b|\bnew (WebSocket|Provider)\(/;
const PACKAGES =
  /(?:from |import\()'(undici|node:https?|node:http2|ws|oauth4webapi|nodemailer|openapi-fetch|got|axios|node-fetch|mongodb-memory-server-core|@temporalio\/testing|@opentelemetry\/exporter[\w-]*)'/;
const SERVER_NAMES = new Set([
  'createServer',
  'IncomingMessage',
  'ServerResponse',
  'STATUS_CODES',
  'maxHeaderSize',
]);

/** Whether a source makes requests. Types, and what makes servers, are none. */
function calls(source: string): boolean {
  const code = source
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    .replace(/^import type [^;]*;/gm, '')
    .replace(/^import \{([^}]*)\} from 'node:https?';/gm, (line, names: string) => {
      const others = names.split(',').filter((name) => !/^\s*type /.test(name) && name.trim() !== '');
      return others.every((name) => SERVER_NAMES.has(name.trim())) ? '' : line;
    });
  return FETCH.test(code) || PACKAGES.test(code);
}

/** Answers without end, as text or as what was compressed; says how much went out and what was asked for. */
async function hostile(encoding: 'identity' | 'gzip') {
  const isEncoded = encoding === 'gzip';
  const piece = isEncoded ? gzipSync(Buffer.alloc(32 * MIB)) : Buffer.alloc(64 * 1_024, 'x');
  const seen = { sent: 0, asked: new Set<unknown>() };
  const server = createServer((request, response) => {
    seen.asked.add(request.headers['accept-encoding']);
    request.resume();
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(isEncoded && { 'content-encoding': 'gzip' }),
    });
    const { socket } = request;
    const body = Array.from({ length: isEncoded ? ENCODED_PIECES : ENDLESS / piece.length }, () => piece);
    pipeline(Readable.from(body), response)
      .catch(() => {})
      .finally(() => {
        seen.sent = Math.max(seen.sent, socket.bytesWritten);
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

describe('callers of HTTP', () => {
  it('are all named here', async () => {
    const [found, unbounded]: [string[], string[]] = [[], []];
    for (const folder of FOLDERS)
      for (const name of await readdir(folder, { recursive: true }))
        if (/\.ts$/.test(name) && !/\b(node_modules|dist|test)\//.test(name)) {
          const source = await readFile(`${folder}/${name}`, 'utf8');
          if (calls(source)) found.push(`${folder}/${name}`);
          for (const [made] of source.matchAll(/new Hookline\(.*$/gm))
            if (folder === 'src' && !made.includes('fetch: boundedRequest')) unbounded.push(made);
        }
    assert.deepEqual(found.sort(), Object.keys(CALLERS).sort());
    assert.deepEqual(unbounded, [], 'a client of the API has a fetch that is bounded');
  });

  for (const [file, caller] of Object.entries(CALLERS)) {
    if (typeof caller === 'string') continue;
    it(`read no more than they may: ${file}`, async () => {
      const endless = await hostile('identity');
      const outcome = await caller.call(endless.url).catch((error: Error) => error);
      await endless.stop();
      assert.ok(
        endless.seen.sent < caller.most + ON_THE_WAY,
        `${endless.seen.sent} bytes: ${String(outcome)}`,
      );
      if (!caller.streams) assert.deepEqual([...endless.seen.asked], ['identity']);
    });
  }

  for (const [file, caller] of Object.entries(CALLERS)) {
    if (typeof caller === 'string') continue;
    it(`decompress nothing beyond that: ${file}`, async () => {
      const encoded = await hostile('gzip');
      const before = process.resourceUsage().maxRSS;
      await caller.call(encoded.url).catch(() => {});
      await encoded.stop();
      const moreKib = process.resourceUsage().maxRSS - before;
      assert.ok(moreKib < 512 * 1_024, `${moreKib} KiB`);
    });
  }
});
