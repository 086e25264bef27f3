/**
 * Octets of a local part, the @, and a domain (RFC 5321, section 4.5.3.1). Counted in UTF-16 code units, of which there
 * are never more.
 */
const MAX_LENGTH = 64 + 1 + 255;

/** Characters that RFC 6531 adds to ASCII. Spaces, controls and halves of surrogate pairs are in no address. */
const INTERNATIONAL = String.raw`[^\x00-\x7f\p{Z}\p{Cc}\p{Cs}]`;

const ATOM = String.raw`(?:[\w!#$%&'*+/=?^${'`'}{|}~\-]|${INTERNATIONAL})+`;
const QUOTED = String.raw`"(?:[^"\\\p{Cc}\p{Cs}]|\\[\x20-\x7e])*"`;
const LABEL = String.raw`(?!-)(?:[a-zA-Z0-9\-]|${INTERNATIONAL})+(?<!-)`;
const ADDRESS_LITERAL = String.raw`\[[\x21-\x5a\x5e-\x7e]+\]`;

const ADDRESS = new RegExp(
  String.raw`^(?:${ATOM}(?:\.${ATOM})*|${QUOTED})@(?:${LABEL}(?:\.${LABEL})*|${ADDRESS_LITERAL})$`,
  'u',
);

/**
 * Whether a text is an e-mail address: a mailbox of RFC 5321, section 4.1.2, or an internationalized one of RFC 6531,
 * section 3.3.
 */
export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_LENGTH && ADDRESS.test(text);
}
