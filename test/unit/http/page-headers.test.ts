import assert from 'node:assert/strict';
import { pageHeaders } from '../../../src/api/web/web-routes.js';
import { settingsSchema } from '../../../src/config/schema.js';

describe('who may show the portal in a frame', () => {
  const ancestors = settingsSchema.shape.HOOKLINE_PORTAL_FRAME_ANCESTORS;

  it('is nobody, unless origins are named, which stand in the policy', () => {
    const none = pageHeaders(ancestors.parse(undefined));
    assert.match(none['content-security-policy'] ?? '', /; frame-ancestors 'none'$/);
    assert.equal(none['x-frame-options'], 'DENY');
    const some = pageHeaders(ancestors.parse('https://app.example.com, https://*.example.org:8443'));
    assert.match(
      some['content-security-policy'] ?? '',
      /; frame-ancestors https:\/\/app\.example\.com https:\/\/\*\.example\.org:8443$/,
    );
    assert.equal(some['x-frame-options'], undefined);
  });

  it('are origins, and nothing that would change the policy', () => {
    for (const text of [
      '*',
      'app.example.com',
      "https://a.test; script-src 'none'",
      "'self'",
      'https://a.test/path',
      'data:',
    ])
      assert.equal(ancestors.safeParse(text).success, false, text);
  });
});
