import fc from 'fast-check';

const LAST_BEFORE_SURROGATES = 0xd7ff;
const FIRST_BEHIND_SURROGATES = 0xe000;
const LAST = 0x10ffff;

/** Any character of Unicode, as the `unit` of a text. To make fast-check's own `binary`, a process takes a second. */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: LAST_BEFORE_SURROGATES }),
    fc.integer({ min: FIRST_BEHIND_SURROGATES, max: LAST }),
  )
  .map((code) => String.fromCodePoint(code));
