/** A purchase with a total of 12.5, and a member that makes it as long as a payload may be. */
function purchase(rest: string): string {
  return (
    '{"order_id":"o-1","customer_email":"ada@example.com","created_at":"2026-01-31T12:00:00Z","items":[],' +
    `"total":12.5,"rest":${rest}}`
  );
}

/** Payloads whose numbers are dear to read digit by digit. */
export const HOSTILE_NUMBERS: Readonly<Record<string, string>> = {
  '43,000 numbers beyond all doubles': purchase(`[${Array(43_000).fill('1e999').join()}]`),
  'an exponent of 261,000 digits': purchase(`1e${'9'.repeat(261_000)}`),
  '12,000 numbers of 20 digits': purchase(`[${Array(12_000).fill('12345678901234567890').join()}]`),
  '65,000 exponents': purchase(`[1e999,${Array(65_000).fill('1e9').join()}]`),
};
