import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { newWitnessKey, readWitnessSigner } from '../../../packages/tlog/src/index.js';
import { purchase } from '../../support/load.js';
import type { Attack } from '../attack.js';

/** Size of the witness's response: so many megabytes, compressed to a thousandth. */
const MEGABYTES = 400;
const BETWEEN_EVENTS_MS = 500;

let witness: Server | undefined;

export const largeResponses: Attack = {
  name: 'large-responses',
  about: `a witness that answers each checkpoint with ${MEGABYTES} MB, compressed`,
  async environment() {
    const part = gzipSync(Buffer.alloc(1_000_000));
    const body = Buffer.concat(Array.from({ length: MEGABYTES }, () => part));
    witness = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
    });
    await once(witness.listen(0, '127.0.0.1'), 'listening');
    const { text } = readWitnessSigner(newWitnessKey('witness.example.com')).verifier;
    const { port } = witness.address() as AddressInfo;
    return {
      HOOKLINE_LOG_WITNESSES: `${text}@http://127.0.0.1:${port}`,
      HOOKLINE_LOG_INTERVAL: '1s',
      HOOKLINE_LOG_LEVEL: 'silent',
    };
  },
  async prepare({ account }) {
    const hostile = await account();
    return async (stop) => {
      // So that there is something new to sign.
      while (!stop.aborted) {
        await hostile.request('POST', '/v18.0/events/purchase', purchase('signed'));
        await delay(BETWEEN_EVENTS_MS);
      }
    };
  },
  async clean() {
    witness?.close();
    witness?.closeAllConnections();
    witness = undefined;
  },
};
