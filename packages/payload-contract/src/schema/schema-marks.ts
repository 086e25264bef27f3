import type { Mistake } from './mistake.js';
import {
  BASE,
  countMarks,
  KEY_KEYWORD,
  MAX_KEY_NAME_LENGTH,
  MAX_KEYS_PER_SCHEMA,
  marksOf,
  pointerTo,
  type Schema,
  SUBJECT_KEYWORD,
} from './schema-keywords.js';

const PROPERTY_NAME = /^[A-Za-z_][\w-]*$/;

/** Checks the properties that a schema marks as business keys. */
export function checkKeyProperties(schema: Schema): Mistake[] {
  const { keys } = marksOf(schema);
  const errors = keys
    .filter(
      (path) =>
        !path.every((part) => PROPERTY_NAME.test(part)) || path.join('.').length > MAX_KEY_NAME_LENGTH,
    )
    .map((path) => ({
      pointer: pointerTo(path),
      detail: `cannot be a key: its name must be letters, digits, _ and -, at most ${MAX_KEY_NAME_LENGTH} characters with its parents'`,
    }));
  if (keys.length > MAX_KEYS_PER_SCHEMA)
    errors.push({ pointer: BASE, detail: `must mark at most ${MAX_KEYS_PER_SCHEMA} properties as keys` });
  const elsewhere = countMarks(schema, KEY_KEYWORD) - keys.length;
  if (elsewhere > 0)
    errors.push({
      pointer: BASE,
      detail: `has ${KEY_KEYWORD} where it has no effect: mark properties with true, below "properties" alone and outside of lists, definitions and alternatives`,
    });
  return errors;
}

/** Checks the property that a schema marks as the subject. */
export function checkSubjectProperties(schema: Schema): Mistake[] {
  const { keys, subjects } = marksOf(schema);
  const pointers = keys.map(pointerTo);
  const errors: Mistake[] = subjects
    .map(pointerTo)
    .filter((pointer) => pointers.includes(pointer))
    .map((pointer) => ({
      pointer,
      detail: `cannot be both ${KEY_KEYWORD} and ${SUBJECT_KEYWORD}: a business key can be looked for after an erasure`,
    }));
  if (subjects.length > 1)
    errors.push({ pointer: BASE, detail: `must mark at most one property with ${SUBJECT_KEYWORD}` });
  if (countMarks(schema, SUBJECT_KEYWORD) > subjects.length)
    errors.push({
      pointer: BASE,
      detail: `has ${SUBJECT_KEYWORD} where it has no effect: mark a property with true, below "properties" alone and outside of lists, definitions and alternatives`,
    });
  return errors;
}
