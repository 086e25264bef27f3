/**
 * How long a majority may take to confirm a write, milliseconds: then the server says that it did not, and the
 * connection stays.
 */
const MAJORITY_TIMEOUT_MS = 5_000;

/**
 * Concerns of every read and write: what a server has acknowledged is on the disks of a majority, so it outlives the
 * loss of any one of them, and reads are of the server that takes writes. Operations that the server rejects because
 * another one takes over are retried once.
 */
export const DURABLE = {
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: MAJORITY_TIMEOUT_MS },
  readPreference: 'primary',
  retryWrites: true,
  retryReads: true,
} as const;

/**
 * For what must not be taken back after it was read, such as a secret that something was encrypted with: a server that
 * loses its place takes back what no majority has. Right after another one has taken over, this may read what was there
 * a moment before.
 */
export const BY_MAJORITY = { readConcern: { level: 'majority' } } as const;

/** Options of a connection string, in lower case, and the values that weaken nothing. */
const STRONG: Readonly<Record<string, (value: string) => boolean>> = {
  w: (value) => value === 'majority',
  journal: isTrue,
  j: isTrue,
  fsync: isTrue,
  readpreference: (value) => value === 'primary',
  readconcernlevel: (value) => value === 'majority' || value === 'linearizable',
  retrywrites: isTrue,
  retryreads: isTrue,
};

/**
 * @param setting that has the connection string
 *
 * @throws Error naming each option with which acknowledged writes could be lost, or old ones read
 */
export function requireDurable(setting: string, uri: string): void {
  const [, query = ''] = /\?([^#]*)/.exec(uri) ?? [];
  const weak = [...new URLSearchParams(query)].filter(
    ([name, value]) => STRONG[name.toLowerCase()]?.(value) === false,
  );
  if (weak.length === 0) return;
  const named = weak.map(([name, value]) => `${name}=${value}`).join(' and ');
  throw new Error(
    `${setting} has ${named}, with which writes that were acknowledged could be lost, or old ones read. Remove ` +
      `${weak.length === 1 ? 'it' : 'them'}: Hookline asks for w=majority, journal=true and readPreference=primary.`,
  );
}

function isTrue(value: string): boolean {
  return value === 'true';
}
