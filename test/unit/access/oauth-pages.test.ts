import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Pages } from '../../../src/api/oauth/pages.js';

const styleOf = (page: string) => /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
const hashOf = (style: string) => createHash('sha256').update(style).digest('base64');

describe('the pages of OAuth', () => {
  it("are Hookline's without a look, and may load nothing", () => {
    const pages = new Pages({ name: 'Hookline' });
    const page = pages.message('Wait', 'A moment.');
    assert.match(page, /<title>Wait · Hookline<\/title>/);
    assert.ok(page.includes('<p class="brand">Hookline</p>'));
    assert.ok(!page.includes('<img'));
    assert.equal(
      pages.headers('https://app.example/callback?a=b')['content-security-policy'],
      `default-src 'none'; style-src 'sha256-${hashOf(styleOf(page))}'; form-action 'self' https://app.example; frame-ancestors 'none'; base-uri 'none'`,
    );
  });

  it('may load the logo of a look alone, and have its name wherever they name themselves', () => {
    const pages = new Pages({
      name: '<b onclick="x">&',
      logo_url: `https://cdn.acme.test/a'"><script>.svg`,
      color: '#0A5F4A',
    });
    const name = '&#60;b onclick=&#34;x&#34;&#62;&#38;';
    const consent = pages.consent({ path: '/x', client: 'Shop', person: 'Ada', scopes: ['profile:read'] });
    const login = pages.login({ path: '/x', client: 'Shop', loginName: '' });
    for (const page of [consent, login, pages.unavailable()]) {
      assert.ok(page.includes(` · ${name}</title>`), page);
      assert.ok(page.includes(`alt="">${name}</p>`), page);
      assert.ok(
        page.includes('<img src="https://cdn.acme.test/a&#39;&#34;&#62;&#60;script&#62;.svg" alt="">'),
      );
      assert.doesNotMatch(page, /<script|<b |Hookline/);
      const style = styleOf(page);
      for (const property of ['--accent', '--accent-hover', '--accent-soft', '--on-accent'])
        assert.match(style, new RegExp(` ${property}: light-dark\\(#[\\da-f]{6}, #[\\da-f]{6}\\);`));
      assert.equal(
        pages.headers()['content-security-policy'],
        `default-src 'none'; style-src 'sha256-${hashOf(style)}'; img-src https://cdn.acme.test; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      );
    }
    assert.match(pages.unavailable(), new RegExp(`<h1>${name} is not available</h1>`));
  });
});
