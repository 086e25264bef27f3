const ends: (() => Promise<unknown>)[] = [];

/**
 * What tests of this process share is ended with this when all are over; the processes of a parallel run end without.
 */
export function atEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}

export async function endShared(): Promise<void> {
  await Promise.all(ends.splice(0).map((end) => end()));
}
