/** A text of at most so many characters (UTF-16 code units), with an ellipsis where it was cut: never in the middle of a character. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
