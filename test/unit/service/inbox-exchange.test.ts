import { deepEqual, match } from 'node:assert/strict';
import { createInboxExchange } from '../../../src/bin/service/listeners/inbox-exchange.js';
import {
  newSigningSecret,
  SIGNATURE_SCHEMES,
  signedHeaders,
} from '../../../src/domain/delivery/signature.js';
import { MAX_RECEIVED_HEADERS, type ReceivedRequest } from '../../../src/domain/listener/inbox.js';

const FORM = { event_kind: 'purchase', url: '' };
const DELIVERY = { account_id: 'acct_1', endpoint_id: 'ep_1', event_id: 'evt_1' };

describe('a delivery to a test inbox', () => {
  const kept: Partial<ReceivedRequest>[] = [];
  const exchange = createInboxExchange({ keep: async (_, request) => void kept.push(request) });
  const send = async (
    secrets: string[],
    signedBy = secrets,
    headers: Record<string, string> = {},
    timestamp = Math.floor(Date.now() / 1_000),
  ) => {
    const signed = {
      ...signedHeaders(signedBy, {
        id: DELIVERY.event_id,
        timestamp,
        kind: 'purchase',
        body: '{}',
      }),
      ...headers,
    };
    const request = { method: 'POST' as const, url: '', headers: signed, body: '{}', timeoutMs: 1_000 };
    const answer = await exchange(DELIVERY, { ...request, account: DELIVERY.account_id }, secrets, FORM);
    return { ...answer, kept: kept.at(-1) };
  };

  it('is verified by every scheme, and answered 200', async () => {
    for (const secrets of [
      ...SIGNATURE_SCHEMES.map((scheme) => [newSigningSecret(scheme)]),
      SIGNATURE_SCHEMES.map((scheme) => newSigningSecret(scheme)).reverse(),
    ]) {
      const answer = await send(secrets);
      deepEqual(
        [answer.kept?.signature_error, 'statusCode' in answer && answer.statusCode],
        [undefined, 200],
      );
    }
  });

  it('is kept with what is wrong, and answered 401, if it is signed by another secret, or long ago', async () => {
    for (const scheme of SIGNATURE_SCHEMES) {
      const answer = await send([newSigningSecret(scheme)], [newSigningSecret(scheme)]);
      match(answer.kept?.signature_error ?? '', /No matching signature/);
      deepEqual('statusCode' in answer && answer.statusCode, 401);
      const late = await send(
        [newSigningSecret(scheme)],
        undefined,
        {},
        Math.floor(Date.now() / 1_000) - 310,
      );
      match(late.kept?.signature_error ?? '', /timestamp too old/);
    }
  });

  it('has no more of its headers kept than there is room for', async () => {
    const { kept: request } = await send([newSigningSecret()], undefined, {
      long: 'x'.repeat(MAX_RECEIVED_HEADERS),
    });
    deepEqual(Object.keys(request?.headers ?? {}).sort(), [
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ]);
  });

  it('fails, to be tried again, where it cannot be kept', async () => {
    const broken = createInboxExchange({ keep: () => Promise.reject(new Error('away')) });
    const request = {
      method: 'POST' as const,
      url: '',
      headers: {},
      body: '',
      timeoutMs: 1,
      account: 'acct_1',
    };
    const answer = await broken(DELIVERY, request, [], FORM);
    deepEqual('error_code' in answer && answer.error_code, 'connection_failed');
  });
});
