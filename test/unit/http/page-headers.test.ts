import assert from 'node:assert/strict';
import { logoOrigins, portalLook, withLook } from '../../../src/api/web/portal-look.js';
import { pageHeaders } from '../../../src/api/web/web-routes.js';
import { settingsSchema } from '../../../src/config/schema.js';
import { isLogoOrigin, logoOrigin } from '../../../src/domain/look/portal-look.js';

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

describe('how the portal looks', () => {
  const { shape } = settingsSchema;
  const settings = (more: Record<string, string> = {}) => ({
    HOOKLINE_PORTAL_NAME: shape.HOOKLINE_PORTAL_NAME.parse(more['name']),
    HOOKLINE_PORTAL_LOGO_URL: shape.HOOKLINE_PORTAL_LOGO_URL.parse(more['logo']),
    HOOKLINE_PORTAL_COLOR: shape.HOOKLINE_PORTAL_COLOR.parse(more['color']),
    HOOKLINE_PORTAL_LOGO_ORIGINS: shape.HOOKLINE_PORTAL_LOGO_ORIGINS.parse(more['origins']),
  });

  it('is told to the page as a text, and to its policy as origins', () => {
    assert.deepEqual(portalLook(settings()), { name: 'Hookline' });
    assert.match(
      pageHeaders([], logoOrigins(settings()))['content-security-policy'] ?? '',
      /; img-src 'self';/,
    );
    const own = settings({
      name: `Acme "Events" </head><script>'`,
      logo: 'https://cdn.acme.test/logo.svg?v=1;x',
      color: '#0A7f5a',
      origins: 'https://img.example.com:8443',
    });
    const page = withLook('<head><title>$&</title></head>', portalLook(own));
    const [, content = ''] =
      /<meta name="hookline-portal" content="([^"<>']*)" \/><\/head>$/.exec(page) ?? [];
    const text = content.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    assert.deepEqual(JSON.parse(text), {
      name: `Acme "Events" </head><script>'`,
      logo_url: 'https://cdn.acme.test/logo.svg?v=1;x',
      color: '#0A7f5a',
    });
    assert.equal(page.match(/<\/head>/g)?.length, 1);
    assert.ok(!page.includes('<title>$&</title>') && page.includes('<title>Acme &#34;Events&#34;'), page);
    assert.match(
      pageHeaders([], logoOrigins(own))['content-security-policy'] ?? '',
      /; img-src 'self' https:\/\/cdn\.acme\.test https:\/\/img\.example\.com:8443;/,
    );
  });

  it('is a line, a colour and an https address, and nothing that would change the page or its policy', () => {
    const refused: [keyof typeof shape & `HOOKLINE_PORTAL_${string}`, string[]][] = [
      ['HOOKLINE_PORTAL_NAME', ['', 'a\nb', 'a\u2028b', 'a\u202eb', 'x'.repeat(61)]],
      [
        'HOOKLINE_PORTAL_COLOR',
        ['red', '#fff', '#0a7f5a;', 'url(https://a.test)', '#0a7f5a}body{display:none'],
      ],
      [
        'HOOKLINE_PORTAL_LOGO_URL',
        [
          'http://a.test/x.svg',
          'data:image/svg+xml,x',
          'javascript:alert(1)',
          'https://user@a.test/x',
          "https://a.test;script-src'unsafe-inline'/",
          'https://*.a.test/',
          `https://a.test/${'x'.repeat(500)}`,
        ],
      ],
      [
        'HOOKLINE_PORTAL_LOGO_ORIGINS',
        ['*', 'https:', 'https://a.test/', "https://a.test; script-src 'self'", 'data:'],
      ],
    ];
    for (const [name, texts] of refused)
      for (const text of texts) assert.equal(shape[name].safeParse(text).success, false, `${name} ${text}`);
    assert.equal(logoOrigin('https://A.test:443/logo.png'), 'https://a.test');
    assert.equal(isLogoOrigin('https://a.test'), true);
  });
});
