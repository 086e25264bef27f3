/** Nothing at all: what an execution costs before it does anything. */
export async function empty(): Promise<void> {}
