/**
 * Does nothing: it stands under the id of a group, so that no group can be started under it any more. Whoever repeats a
 * request whose first process is silent makes one for each group that does not exist and in which that process could
 * still start the event's deliveries.
 */
export async function fence(): Promise<void> {}
