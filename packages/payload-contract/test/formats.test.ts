import assert from 'node:assert/strict';
import { compilePayloadSchema } from '../src/schema/payload-schema.js';

/** Texts by format: those that have it, and those that do not. */
const TEXTS: Record<string, { valid: string[]; invalid: string[] }> = {
  time: {
    valid: [
      '00:00:00Z',
      '23:59:59.999+01:00',
      '12:00:00-23:59',
      '23:59:60Z',
      '00:59:60+01:00',
      '18:59:60-05:00',
    ],
    invalid: [
      ...[
        '24:00:00Z',
        '24:59:60+01:00',
        '23:60:00+00:01',
        '23:60:00Z',
        '12:00:61Z',
        '12:00:60Z',
        '00:00:60Z',
      ],
      ...[
        '12:00:00',
        '12:00:00+24:00',
        '12:00:00+01:60',
        '12:00Z',
        '12:00:00+1:00',
        '1:00:00Z',
        '23:59:60+01:00',
      ],
    ],
  },
  'date-time': {
    valid: [
      '2026-01-31T12:00:00Z',
      '2024-02-29t23:59:59.5z',
      '2016-12-31T23:59:60Z',
      '2017-01-01T00:59:60+01:00',
    ],
    invalid: [
      ...[
        '2016-12-31T24:59:60+01:00',
        '2016-12-31T23:60:00+00:01',
        '2026-02-30T12:00:00Z',
        '2025-02-29T12:00:00Z',
      ],
      ...[
        '2026-13-01T12:00:00Z',
        '2026-00-10T12:00:00Z',
        '2026-01-31T12:00:00',
        '2026-01-31',
        '+02026-01-31T12:00:00Z',
      ],
    ],
  },
  'utc-date-time': {
    valid: ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123+00:00', '2016-12-31T23:59:60Z'],
    invalid: [
      '2026-01-31T12:00:00+01:00',
      '2026-01-31t12:00:00Z',
      '2026-01-31T12:00:00z',
      '2026-01-31T24:00:00Z',
    ],
  },
  uuid: {
    valid: ['123e4567-e89b-12d3-a456-426614174000', '123E4567-E89B-12D3-A456-426614174000'],
    invalid: ['urn:uuid:123e4567-e89b-12d3-a456-426614174000', '123e4567e89b12d3a456426614174000', ''],
  },
  date: { valid: ['2024-02-29'], invalid: ['2025-02-29', '2026-1-01', '2026-01-31T12:00:00Z'] },
};

describe('a format', () => {
  for (const [format, { valid, invalid }] of Object.entries(TEXTS)) {
    const validate = compilePayloadSchema({ format });
    for (const text of valid)
      it(`${format} is had by ${text}`, () => assert.equal(validate(text), undefined));
    for (const text of invalid)
      it(`${format} is not had by ${text || 'nothing'}`, () => assert.ok(validate(text)));
  }

  it('that is not known says nothing about what is valid', () => {
    assert.equal(compilePayloadSchema({ format: 'uuid4' })('x'), undefined);
  });
});
