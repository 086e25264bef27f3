/** Temporal refuses a summary of more bytes than this (`limit.userMetadataSummarySize` of the server). */
export const MAX_SUMMARY_BYTES = 200;

/** A text as the summary of a timer: cut between characters if its UTF-8 form is too long. */
export function timerSummary(text: string): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Length(character.codePointAt(0) ?? 0);
    if (bytes > MAX_SUMMARY_BYTES) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
