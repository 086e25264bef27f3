import { Big } from 'big.js';
import { ExactValue } from '../../filter/payload-values.js';

/** The farthest exponent that is kept as it is: far beyond those of all numbers that it is compared with. */
const MAX_EXPONENT = 1_000_000_000n;
/** A divisor has at most 17 digits, so no prime factor of it more often than this. */
const MAX_FACTORS = 64;
/** Every number of so many characters without an exponent has a double of its own. */
const MAX_KEPT_LENGTH = 15;

/**
 * Finds, in a JSON text, what could be a number that loses digits as a double: a long one, or a large exponent. It also
 * finds some texts, but not ids and hashes, which stand behind a quotation mark.
 */
const MAY_LOSE_DIGITS = /(?:^|[\s,:[])-?\d(?:[\d.]{15}|[\d.]*[eE][+-]?\d{3})/;

/** A number of a JSON text that a double cannot stand for: the shortest decimal of its double has another value. */
export class ExactNumber extends ExactValue {
  /** As it was written. */
  readonly text: string;
  /** Its value; an exponent beyond {@link MAX_EXPONENT} is cut to that, which changes no comparison with a double. */
  readonly value: Big;
  private readonly beyond: bigint;
  private readonly nearest: number;
  private knownOrder: number | undefined;
  private knownKey: string | undefined;
  private knownCoefficient: bigint | undefined;

  /** @param text of a JSON number */
  constructor(text: string) {
    super();
    const [coefficient = '', exponent = '0'] = text.toLowerCase().split('e');
    const wanted = BigInt(exponent.replace('+', ''));
    const cut = wanted > MAX_EXPONENT ? MAX_EXPONENT : wanted < -MAX_EXPONENT ? -MAX_EXPONENT : wanted;
    this.text = text;
    this.nearest = Number(text);
    this.value = new Big(`${coefficient}e${cut}`);
    this.beyond = wanted - cut;
  }

  /** Equal for equal numbers only; no JSON text begins like it. Kept, because a number can be as long as a payload. */
  get key(): string {
    const { s, c, e } = this.value;
    this.knownKey ??= `\0#${s < 0 ? '-' : ''}${c.join('')}e${BigInt(e) + this.beyond}`;
    return this.knownKey;
  }

  /** Its digits, without zeros at the end. */
  get coefficient(): bigint {
    this.knownCoefficient ??= coefficientOf(this.value);
    return this.knownCoefficient;
  }

  /**
   * With a double by its shortest decimal. Rounding keeps the order, so digits matter beside the nearest double alone.
   */
  compareTo(limit: number): number {
    if (this.nearest !== limit) return this.nearest < limit ? -1 : 1;
    this.knownOrder ??= this.value.cmp(limit);
    return this.knownOrder;
  }

  get isInteger(): boolean {
    return lastPlace(this.value) >= 0;
  }
}

/** Whether a JSON text may hold a number that loses digits as a double: quick, and true for some texts that do not. */
export function mayLoseDigits(json: string): boolean {
  return MAY_LOSE_DIGITS.test(json);
}

/** A JSON number as a double, if the double's shortest decimal, which is what JSON of it says, has the same value. */
export function readNumber(text: string): number | ExactNumber {
  const double = Number(text);
  if (text.length <= MAX_KEPT_LENGTH && !/e/i.test(text)) return double;
  const exact = new ExactNumber(text);
  return Number.isFinite(double) && new Big(double).eq(exact.value) ? double : exact;
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
  const dividend = typeof value === 'number' ? new Big(value) : value.value;
  if (dividend.c[0] === 0) return true;
  const unit = new Big(divisor);
  const spare = lastPlace(dividend) - lastPlace(unit);
  // The last digit is not 0, so the number is no multiple of a larger power of ten.
  if (spare < 0) return false;
  const digits = typeof value === 'number' ? coefficientOf(dividend) : value.coefficient;
  // Zeros beyond the divisor's factors change nothing, and would have to be written out.
  return (digits * 10n ** BigInt(Math.min(spare, MAX_FACTORS))) % coefficientOf(unit) === 0n;
}

function coefficientOf({ c }: Big): bigint {
  return BigInt(c.join(''));
}

/** The exponent of the last digit that is not 0. */
function lastPlace({ c, e }: Big): number {
  return c[0] === 0 ? 0 : e - c.length + 1;
}
