import { ExactValue } from '../filter/payload-values.js';

/** The farthest exponent that is kept as it is: far beyond those of all numbers that it is compared with. */
const MAX_EXPONENT = 1_000_000_000;
/** A double's shortest decimal has at most so many digits, and so a divisor each prime factor at most this often. */
const MAX_DIGITS = 17;
const MAX_FACTORS = 64;
/**
 * Numbers with at most this many digits equal their double's shortest decimal, unless it is below the least normal
 * double.
 */
const MAX_KEPT_LENGTH = 15;
const LEAST_NORMAL = 2 ** -1022;

/**
 * Finds, in a JSON text, what could be a number that loses digits as a double: a long one, or a large exponent. It also
 * finds some texts, but not ids and hashes, which stand behind a quotation mark.
 */
const MAY_LOSE_DIGITS = /(?:^|[\s,:[])-?\d(?:[\d.]{15}|[\d.]*[eE][+-]?\d{3})/;

const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number: a sign, its digits without zeros at either end (none for 0), and the exponent of the last of them. */
interface Decimal {
  sign: 1 | -1;
  digits: string;
  lastPlace: number;
}

/** A number of a JSON text that a double cannot stand for: the shortest decimal of its double has another value. */
export class ExactNumber extends ExactValue {
  /** As it was written. */
  readonly text: string;
  private readonly decimal: Decimal;
  private readonly nearest: number;
  private knownOrder: number | undefined;
  private knownKey: string | undefined;
  private knownCoefficient: bigint | undefined;

  /** @param text of a JSON number */
  constructor(text: string, nearest = Number(text), decimal = decimalOf(text)) {
    super();
    this.text = text;
    this.nearest = nearest;
    this.decimal = decimal;
  }

  /** Equal for equal numbers only; no JSON text begins like it. Kept, because a number can be as long as a payload. */
  get key(): string {
    const { sign, digits, lastPlace } = this.decimal;
    this.knownKey ??= `\0#${sign}_${digits}e${BigInt(lastPlace) + beyond(this.text)}`;
    return this.knownKey;
  }

  /** Its digits, without zeros at the end. */
  get coefficient(): bigint {
    this.knownCoefficient ??= coefficientOf(this.decimal);
    return this.knownCoefficient;
  }

  /** The exponent of the last digit that is not 0. */
  get lastPlace(): number {
    return this.decimal.lastPlace;
  }

  /**
   * With a double by its shortest decimal. Rounding keeps the order, so digits matter beside the nearest double alone.
   */
  compareTo(limit: number): number {
    if (this.nearest !== limit) return this.nearest < limit ? -1 : 1;
    this.knownOrder ??= compareDecimals(this.decimal, decimalOf(String(limit)));
    return this.knownOrder;
  }

  get isInteger(): boolean {
    return this.lastPlace >= 0;
  }
}

/** Whether a JSON text may hold a number that loses digits as a double: quick, and true for some texts that do not. */
export function mayLoseDigits(json: string): boolean {
  return MAY_LOSE_DIGITS.test(json);
}

/** A JSON number as a double, if the double's shortest decimal, which is what JSON of it says, has the same value. */
export function readNumber(text: string): number | ExactNumber {
  const double = Number(text);
  if (text.length <= MAX_KEPT_LENGTH && Number.isFinite(double) && Math.abs(double) >= LEAST_NORMAL)
    return double;
  const decimal = decimalOf(text);
  return isShortestOf(double, decimal) ? double : new ExactNumber(text, double, decimal);
}

/** Compares with a double by its shortest decimal. @returns below 0, 0 or above 0 */
export function compareNumbers(value: number | ExactNumber, limit: number): number {
  return typeof value === 'number' ? value - limit : value.compareTo(limit);
}

/**
 * Whether a number is a whole multiple of another, in decimal: 19.99 is one of 0.01. A double stands for its shortest
 * decimal.
 *
 * @param divisor above 0
 */
export function isMultiple(value: number | ExactNumber, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return Number(value) % divisor === 0;
  if (value === 0) return true;
  const dividend = typeof value === 'number' ? decimalOf(String(value)) : value;
  const unit = decimalOf(String(divisor));
  const spare = dividend.lastPlace - unit.lastPlace;
  // The last digit is not 0, so the number is no multiple of a larger power of ten.
  if (spare < 0) return false;
  const digits = dividend instanceof ExactNumber ? dividend.coefficient : coefficientOf(dividend);
  // Zeros beyond the divisor's factors change nothing, and would have to be written out.
  return (digits * 10n ** BigInt(Math.min(spare, MAX_FACTORS))) % coefficientOf(unit) === 0n;
}

/** Takes a JSON number apart; an exponent beyond {@link MAX_EXPONENT} is cut to that, which changes no comparison. */
function decimalOf(text: string): Decimal {
  const [, minus = '', whole = '', fraction = '', exponent = '0'] = PARTS.exec(text) ?? [];
  const all = whole + fraction;
  let [begin, end] = [0, all.length];
  while (begin < end && all[begin] === '0') begin += 1;
  while (end > begin && all[end - 1] === '0') end -= 1;
  if (begin === end) return { sign: 1, digits: '', lastPlace: 0 };
  return {
    sign: minus ? -1 : 1,
    digits: all.slice(begin, end),
    lastPlace: cut(exponent) - fraction.length + all.length - end,
  };
}

function cut(exponent: string): number {
  return Math.max(-MAX_EXPONENT, Math.min(MAX_EXPONENT, Number(exponent)));
}

/** Part that was cut from a number's exponent. */
function beyond(text: string): bigint {
  const exponent = PARTS.exec(text)?.[4] ?? '0';
  return Math.abs(Number(exponent)) <= MAX_EXPONENT
    ? 0n
    : BigInt(exponent.replace('+', '')) - BigInt(cut(exponent));
}

/** Whether a double's shortest decimal has a value. */
function isShortestOf(double: number, { sign, digits, lastPlace }: Decimal): boolean {
  if (!Number.isFinite(double) || digits.length > MAX_DIGITS) return false;
  const shortest = decimalOf(String(double));
  return shortest.digits === digits && shortest.lastPlace === lastPlace && shortest.sign === sign;
}

/** @returns below 0, 0 or above 0 */
function compareDecimals(a: Decimal, b: Decimal): number {
  const signs = signOf(a) - signOf(b);
  if (signs !== 0 || a.digits === '') return signs;
  const places = a.digits.length + a.lastPlace - (b.digits.length + b.lastPlace);
  // Their first digits stand for the same power of ten: then texts are in the order of numbers.
  const order = places || (a.digits < b.digits ? -1 : a.digits > b.digits ? 1 : 0);
  return a.sign * order;
}

function signOf({ sign, digits }: Decimal): number {
  return digits === '' ? 0 : sign;
}

function coefficientOf({ digits }: Decimal): bigint {
  return BigInt(digits);
}
