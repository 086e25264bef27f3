/** The beginning of a text, cut between two characters, with `…` at its end if it was cut. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…` : text;
}
