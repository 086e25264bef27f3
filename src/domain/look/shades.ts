/** Red, green and blue, 0 to 255 each. */
type Rgb = readonly [number, number, number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];

/**
 * Backgrounds of texts in the colour: the darkest of the light theme, and the lightest of the dark one
 * (`styles/tokens.css`).
 */
const LIGHT_GROUND: Rgb = [0xf1, 0xf3, 0xf6];
const DARK_GROUND: Rgb = [0x1d, 0x21, 0x2a];
const DARK_SURFACE: Rgb = [0x15, 0x18, 0x1e];

/**
 * WCAG 2.2, 1.4.3: texts have a contrast of 4.5 to 1 at least. Some more is kept, because the soft shade is a little
 * nearer.
 */
const ENOUGH = 5.6;

/** Steps in which a colour is made darker or lighter. */
const STEPS = 100;

/** Shades of a colour: values of the properties in `styles/tokens.css`, for the light theme and the dark one. */
export interface Shades {
  '--accent': string;
  '--accent-hover': string;
  '--accent-soft': string;
  '--on-accent': string;
}

/** Shades of a colour that can be read in both themes. @param color `#rrggbb` */
export function shadesOf(color: string): Shades {
  const rgb = parse(color);
  const light = untilReadable(rgb, BLACK, LIGHT_GROUND);
  const dark = untilReadable(rgb, WHITE, DARK_GROUND);
  return {
    '--accent': both(light, dark),
    '--accent-hover': both(mix(light, BLACK, 0.2), mix(dark, WHITE, 0.3)),
    '--accent-soft': both(mix(WHITE, light, 0.08), mix(DARK_SURFACE, dark, 0.12)),
    '--on-accent': both(WHITE, mix(BLACK, dark, 0.1)),
  };
}

/** The contrast of two colours, 1 to 21 (WCAG 2.2, relative luminance). */
export function contrast(a: string, b: string): number {
  return contrastOf(parse(a), parse(b));
}

function untilReadable(rgb: Rgb, towards: Rgb, ground: Rgb): Rgb {
  for (let step = 0; step < STEPS; step += 1) {
    const shade = mix(rgb, towards, step / STEPS);
    if (contrastOf(shade, ground) >= ENOUGH) return shade;
  }
  return towards;
}

function contrastOf(a: Rgb, b: Rgb): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return (high + 0.05) / (low + 0.05);
}

function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param share how much of the second, 0 to 1 */
function mix(first: Rgb, second: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(first[index] * (1 - share) + second[index] * share);
  return [part(0), part(1), part(2)];
}

function parse(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function both(light: Rgb, dark: Rgb): string {
  return `light-dark(${write(light)}, ${write(dark)})`;
}

function write(rgb: Rgb): string {
  return `#${rgb.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
