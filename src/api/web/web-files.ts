import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { once } from '../../domain/basics/at-most-every.js';
import { matchesEtag } from '../../domain/http/etag.js';
import { notFound } from '../../domain/http/problem.js';
import type { Context, Middleware } from '../http/context.js';

/** Where `vite build web` puts the application: below `web/` of the sources, or of `dist`. */
export const WEB_FOLDER = fileURLToPath(new URL('../../../web/dist/', import.meta.url));
/** Where `vite build web/reference` puts the API reference. */
export const REFERENCE_FOLDER = fileURLToPath(new URL('../../../web/reference/dist/', import.meta.url));

/** Encodings that a file may be kept in, the best first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;

/** A file in memory, with what it is encoded as. */
export interface WebFile {
  /** As Koa takes it, such as `html` or `.js`. */
  type: string;
  hash: string;
  content: Partial<Record<(typeof ENCODINGS)[number], Buffer>>;
}

export function webFile(type: string, identity: Buffer, encoded: WebFile['content']): WebFile {
  const hash = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  return { type, hash, content: { ...encoded, identity } };
}

/**
 * Answers with a file in the best encoding that the caller takes, with an entity tag for each; `304` if it has that
 * already.
 */
export function answerFile(ctx: Context, { type, hash, content }: WebFile, cacheControl: string): void {
  const encoding =
    ENCODINGS.find((each) => content[each] && ctx.acceptsEncodings(each) === each) ?? 'identity';
  const etag = `"${hash}.${encoding}"`;
  ctx.set({ etag, vary: 'Accept-Encoding', 'cache-control': cacheControl });
  if (matchesEtag(ctx.get('if-none-match'), etag, true)) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  if (encoding !== 'identity') ctx.set('content-encoding', encoding);
  ctx.body = content[encoding];
}

/** Files that the build has made of a page, its scripts and its styles, read when the first one is requested. */
export class BuiltSite {
  readonly #assetsPath: string;
  readonly #files: () => ReturnType<typeof readWebFiles>;

  /**
   * @param assetsPath path where {@link sendAsset} answers, as browsers see it: below the path of the public address
   */
  constructor(folder: string, assetsPath: string) {
    this.#assetsPath = assetsPath;
    this.#files = once(() => readWebFiles(folder));
  }

  /** The page. @throws a problem if it has not been built */
  async page(path: string): Promise<string> {
    const built = await this.#files();
    if (!built) throw notFound('page', path);
    // The build's addresses are relative to the page, whose own address can be of any depth.
    return built.page.replaceAll('"./assets/', `"${this.#assetsPath}/`);
  }

  /** Answers with the file that the path's parameter `name` names: its name holds a hash of its content. */
  readonly sendAsset: Middleware = async (ctx) => {
    const file = (await this.#files())?.assets.get(ctx['params']?.name ?? '');
    if (!file) throw notFound('file', ctx.path);
    answerFile(ctx, file, 'public, max-age=31536000, immutable');
  };
}

/**
 * Reads a page, `index.html`, and its files into memory: one to three megabytes.
 *
 * @returns `undefined` if it has not been built
 */
async function readWebFiles(folder: string) {
  const page = await readFile(join(folder, 'index.html'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (page === undefined) return undefined;
  const assets = join(folder, 'assets');
  const names = new Set(await readdir(assets));
  const read = async (name: string) => (names.has(name) ? readFile(join(assets, name)) : undefined);
  const files = [...names]
    .filter((name) => !/\.(br|gz)$/.test(name))
    .map(async (name) => {
      const [identity, br, gzip] = await Promise.all([
        readFile(join(assets, name)),
        read(`${name}.br`),
        read(`${name}.gz`),
      ]);
      return [name, webFile(extname(name), identity, { ...(br && { br }), ...(gzip && { gzip }) })] as const;
    });
  return { page, assets: new Map(await Promise.all(files)) };
}
