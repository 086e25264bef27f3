import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import {
  type LegacySignature,
  legacyHeaders,
  objectionToTemplate,
} from '../../../src/domain/sending/legacy-signature.js';

const BODY = '{"text":"{timestamp} stays as it is, ž"}';
const REQUEST = { id: 'evt_1', timestamp: 1_614_265_330, kind: 'purchase', body: BODY };
const PLAIN: LegacySignature = {
  header: 'X-Signature',
  value: '{signature}',
  signed: '{body}',
  hmac: 'sha256',
  encoding: 'hex',
  secret: 'shared with the receiver',
};
const hmac = (algorithm: string, text: string, encoding: 'hex' | 'base64') =>
  createHmac(algorithm, PLAIN.secret).update(text).digest(encoding);

describe('legacy signatures', () => {
  it('are those that other services make', () => {
    const of = (more: Partial<LegacySignature>) => legacyHeaders({ ...PLAIN, ...more }, REQUEST);
    // GitHub: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    assert.deepEqual(of({ header: 'X-Hub-Signature-256', value: 'sha256={signature}' }), {
      'x-hub-signature-256': `sha256=${hmac('sha256', BODY, 'hex')}`,
    });
    // Stripe: https://docs.stripe.com/webhooks#verify-manually
    const stripe = {
      header: 'Stripe-Signature',
      value: 't={timestamp},v1={signature}',
      signed: '{timestamp}.{body}',
    };
    assert.deepEqual(of(stripe), {
      'stripe-signature': `t=1614265330,v1=${hmac('sha256', `1614265330.${BODY}`, 'hex')}`,
    });
    // Slack: https://docs.slack.dev/authentication/verifying-requests-from-slack
    const slack = { header: 'X-Slack-Signature', value: 'v0={signature}', signed: 'v0:{timestamp}:{body}' };
    assert.deepEqual(of({ ...slack, timestamp_header: 'X-Slack-Request-Timestamp' }), {
      'x-slack-signature': `v0=${hmac('sha256', `v0:1614265330:${BODY}`, 'hex')}`,
      'x-slack-request-timestamp': '1614265330',
    });
    // Shopify: https://shopify.dev/docs/apps/build/webhooks/subscribe/https
    assert.deepEqual(of({ header: 'X-Shopify-Hmac-Sha256', encoding: 'base64' }), {
      'x-shopify-hmac-sha256': hmac('sha256', BODY, 'base64'),
    });
    assert.deepEqual(of({ hmac: 'sha1', signed: '{id}/{kind}/{body}', value: '{kind} {signature}' }), {
      'x-signature': `purchase ${hmac('sha1', `evt_1/purchase/${BODY}`, 'hex')}`,
    });
  });

  it('have templates with the parts that there are, and the one that is needed once', () => {
    for (const [name, template, objection] of [
      ['signed', '{timestamp}.{body}', undefined],
      ['signed', '{timestamp}', 'must name {body} once'],
      ['signed', '{body}{body}', 'must name {body} once'],
      ['signed', '{body} {nonce}', 'names {nonce}; it can name {id}, {timestamp}, {kind}, {body}'],
      ['signed', '{body', 'has a brace without its pair'],
      ['value', 'sha256={signature}', undefined],
      ['value', 'sha256=', 'must name {signature} once'],
      ['value', '{signature}{body}', 'names {body}; it can name {signature}, {id}, {timestamp}, {kind}'],
    ] as const)
      assert.equal(objectionToTemplate(name, template), objection, template);
  });
});
