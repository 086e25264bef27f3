import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Need that a run of tests satisfies once for all its processes, and only if one of them has it: `build`, Hookline as
 * it is built, and `servers`, Temporal and MongoDB, with that build.
 */
export type Need = 'build' | 'servers';

/** Where processes of a run ask for it: the path of a socket. */
const VARIABLE = 'TEST_NEEDS';

const needed = new Set<Need>();

/**
 * Declares, as a module of tests or of their support is loaded, that what uses it needs something. It is there before
 * the first hook of a file that has tests to run.
 */
export function needs(need: Need): void {
  needed.add(need);
}

export function neededHere(): readonly Need[] {
  return [...needed];
}

/**
 * Makes what processes of this run ask for, when the first one asks.
 *
 * @param path of the socket
 * @param makers what they resolve with is told as JSON
 * @returns ends it
 */
export async function serveNeeds(
  path: string,
  makers: Record<Need, () => Promise<unknown>>,
): Promise<() => void> {
  const made = new Map<Need, Promise<unknown>>();
  const make = (need: Need) => {
    const making = made.get(need) ?? makers[need]();
    made.set(need, making);
    return making;
  };
  const server = createServer((socket) => {
    socket.on('error', () => {}); // who asked has ended
    socket.setEncoding('utf8').once('data', (need) => {
      make(String(need) as Need).then(
        (value) => socket.end(JSON.stringify({ value })),
        (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
      );
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  server.unref();
  process.env[VARIABLE] = path;
  return () => server.close();
}

/** Waits for what {@link serveNeeds} makes. @throws Error with the reason why it could not be made */
export async function ask(need: Need): Promise<unknown> {
  const path = process.env[VARIABLE];
  if (!path) throw new Error('run the tests with mocha from the folder of the project');
  const socket = connect(path);
  socket.write(need);
  const { value, error } = JSON.parse(await text(socket)) as { value?: unknown; error?: string };
  if (error !== undefined) throw new Error(`the ${need} of this run: ${error}`);
  return value;
}
