import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { contrast, type Shades, shadesOf } from '../../../src/domain/look/shades.js';

/** The smallest contrast of texts (WCAG 2.2, 1.4.3). */
const LEAST = 4.5;

/** The two values of a property of the application's own style. */
function groundsOf(name: string): [light: string, dark: string] {
  const tokens = readFileSync('web/src/styles/tokens.css', 'utf8');
  const [, light = '', dark = ''] =
    new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? [];
  return [light, dark];
}

describe('the look of the portal', () => {
  it('can be read, whatever colour somebody chooses', () => {
    const grounds = ['background', 'surface', 'sunken'].map(groundsOf);
    const themes = (shades: Shades, name: keyof Shades) => {
      const [, light = '', dark = ''] =
        /^light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)$/.exec(shades[name]) ?? [];
      return [light, dark];
    };
    const color = fc
      .integer({ min: 0, max: 0xffffff })
      .map((value) => `#${value.toString(16).padStart(6, '0')}`);
    fc.assert(
      fc.property(color, (chosen) => {
        const shades = shadesOf(chosen);
        for (const theme of [0, 1]) {
          const [accent = '', hover = '', soft = '', on = ''] = (
            ['--accent', '--accent-hover', '--accent-soft', '--on-accent'] as const
          ).map((name) => themes(shades, name)[theme]);
          for (const ground of grounds) assert.ok(contrast(accent, ground[theme] ?? '') >= LEAST, chosen);
          assert.ok(contrast(accent, soft) >= LEAST, `${chosen} on its soft shade`);
          assert.ok(contrast(on, accent) >= LEAST, `a text on ${chosen}`);
          assert.ok(contrast(on, hover) >= LEAST, `a text on ${chosen}, pointed at`);
        }
      }),
    );
    // A colour that can be read stays as it is where it can.
    assert.match(shadesOf('#0a5f4a')['--accent'], /^light-dark\(#0a5f4a, /);
    assert.ok(Math.abs(contrast('#ffffff', '#000000') - 21) < 0.01);
  });
});
