/** Does nothing: Temporal's record of its start tells what time it is there, which no call does. */
export async function tellTime(): Promise<void> {}
