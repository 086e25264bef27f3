import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where `vite build web` puts the application: below `web/` of the sources, or of `dist`. */
export const WEB_FOLDER = fileURLToPath(new URL('../../../web/dist/', import.meta.url));
/** Where `vite build web/reference` puts the API reference. */
export const REFERENCE_FOLDER = fileURLToPath(new URL('../../../web/reference/dist/', import.meta.url));

/** Encodings that the build has made, the best first. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof ENCODINGS)[number];

const SUFFIXES: Record<Encoding, string> = { br: '.br', gzip: '.gz', identity: '' };

/** A file that a page loads; its name holds a hash of its content. */
export interface WebFile {
  /** Such as `.js`. */
  extension: string;
  etag: string;
  content: Partial<Record<Encoding, Buffer>> & { identity: Buffer };
}

/** A page and its files as they were built. */
export interface WebFiles {
  /** The one page, `index.html`. */
  page: string;
  assets: ReadonlyMap<string, WebFile>;
}

/** Reads them into memory: one to three megabytes. @returns `undefined` if it has not been built */
export async function readWebFiles(folder: string): Promise<WebFiles | undefined> {
  const page = await readFile(join(folder, 'index.html'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (page === undefined) return undefined;
  const names = await readdir(join(folder, 'assets'));
  const originals = names.filter((name) => !/\.(br|gz)$/.test(name));
  const files = originals.map(
    async (name) => [name, await readWebFile(join(folder, 'assets', name), names)] as const,
  );
  return { page, assets: new Map(await Promise.all(files)) };

  async function readWebFile(path: string, all: readonly string[]): Promise<WebFile> {
    const identity = await readFile(path);
    const content: WebFile['content'] = { identity };
    for (const encoding of ['br', 'gzip'] as const) {
      const file = path + SUFFIXES[encoding];
      if (all.some((name) => file.endsWith(`/${name}`))) content[encoding] = await readFile(file);
    }
    const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
    return { extension: extname(path), etag, content };
  }
}
