/** Schemas of payloads, and JSON whose numbers have every digit that was written. */
export * from './filter/index.js';
export { escapePointer, toPointer } from './json-pointer.js';
export { isEmailAddress } from './schema/email-address.js';
export { MAX_ERRORS, type Mistake } from './schema/mistake.js';
export { compilePattern, type Pattern, patternSize } from './schema/pattern.js';
export {
  checkSchemaItself,
  compilePayloadSchema,
  type Validator,
  type Violations,
} from './schema/payload-schema.js';
export {
  checkBounds,
  checkPatterns,
  compiledBytes,
  MAX_PAYLOAD_BYTES,
  SCHEMA_BOUNDS,
  type SchemaSize,
} from './schema/schema-bounds.js';
export { type Cost, costOf, EXACT_READING, heaviestPart, stepsFor } from './schema/schema-cost.js';
export * from './schema/schema-keywords.js';
export { checkKeyProperties, checkOrderProperties, checkSubjectProperties } from './schema/schema-marks.js';
export { exactIn, findLostDigits, parseExactly, parseNumbers, ROOT } from './values/exact-json.js';
export { compareNumbers, ExactNumber, isMultiple, mayLoseDigits, readNumber } from './values/exact-number.js';
export { NumberTexts } from './values/number-texts.js';
export { valuesOf } from './values/values-of.js';
