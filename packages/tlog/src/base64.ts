/** Decodes base64 (RFC 4648, section 4) that has one spelling alone; `undefined` for any other. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
