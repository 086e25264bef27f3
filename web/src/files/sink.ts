import { save } from './save.js';

/** Where a file is written to, part by part. */
export interface Sink {
  write(part: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Gives the person the file. */
  close(): Promise<void>;
  /** Leaves nothing of it. */
  abort(): Promise<void>;
}

/** The part of the File System API that not all browsers have, and TypeScript does not know. */
type Picker = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
const picker = () => (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;

/** Whether this browser writes to disk as a file comes, and so takes one of any size. */
export const writesToDisk = (): boolean => picker() !== undefined;

/** The largest file that is held in memory, bytes. */
const MOST_IN_MEMORY = 512 * 1024 * 1024;

/**
 * Asks where to put a file, if the browser can. Must be called when something is clicked.
 *
 * @returns undefined if the person does not want it
 */
export async function openSink(name: string): Promise<Sink | undefined> {
  const pick = picker();
  if (!pick) return inMemory(name);
  try {
    const handle = await pick.call(window, { suggestedName: name });
    const file = await handle.createWritable();
    return {
      write: (part) => file.write(part),
      close: () => file.close(),
      abort: () => file.abort(),
    };
  } catch (error) {
    if ((error as Error).name === 'AbortError') return undefined;
    throw error;
  }
}

function inMemory(name: string): Sink {
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  return {
    async write(part) {
      bytes += part.length;
      if (bytes > MOST_IN_MEMORY)
        throw new Error(
          'The file would be larger than 512 MiB, which is the most that this browser can take.',
        );
      parts.push(part);
    },
    async close() {
      save(new Blob(parts, { type: 'application/x-ndjson' }), name);
      parts = [];
    },
    async abort() {
      parts = [];
    },
  };
}
