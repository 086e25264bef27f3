const ends: (() => Promise<unknown>)[] = [];

/** Ends what tests of this process share when all are over; the processes of a parallel run end without. */
export function atEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}

export async function endShared(): Promise<void> {
  await Promise.all(ends.splice(0).map((end) => end()));
}
