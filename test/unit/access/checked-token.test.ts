import assert from 'node:assert/strict';
import { API_KEY } from '../../../src/domain/access/api-key.js';
import { PORTAL_TOKEN, portalUrl } from '../../../src/domain/access/portal-session.js';

describe('a portal token', () => {
  it('is well-formed, and is no API key under another prefix', () => {
    const token = PORTAL_TOKEN.make();
    assert.match(token, /^hlps_[\w-]{49}$/);
    assert.ok(PORTAL_TOKEN.isOne(token));
    assert.equal(API_KEY.isOne(token.replace('hlps_', 'hlk_')), false);
    assert.equal(PORTAL_TOKEN.isOne(API_KEY.make().replace('hlk_', 'hlps_')), false);
    for (const text of ['', 'hlps_', token.slice(0, -1), `${token}x`, `${token}\n`])
      assert.equal(PORTAL_TOKEN.isOne(text), false, text);
  });

  it('is in the fragment of its link, which browsers do not send', () => {
    for (const base of ['https://hooks.example.com', 'https://hooks.example.com/']) {
      const url = new URL(portalUrl(base, 'hlps_x'));
      assert.deepEqual(
        [url.origin, url.pathname, url.hash],
        ['https://hooks.example.com', '/portal', '#token=hlps_x'],
      );
    }
  });
});
