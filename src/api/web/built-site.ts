import { matchesEtag } from '../../domain/http/etag.js';
import { notFound } from '../../domain/http/problem.js';
import type { Middleware } from '../http/context.js';
import { ENCODINGS, readWebFiles, type WebFiles } from './web-files.js';

/** What the build has made of a page, its scripts and its styles, read when it is first asked for. */
export class BuiltSite {
  readonly #folder: string;
  readonly #assetsPath: string;
  #read: Promise<WebFiles | undefined> | undefined;

  /** @param assetsPath path where {@link sendAsset} answers, as browsers see it: below the path of the public address */
  constructor(folder: string, assetsPath: string) {
    this.#folder = folder;
    this.#assetsPath = assetsPath;
  }

  /** The page. @throws a problem if it has not been built */
  async page(path: string): Promise<string> {
    const built = await this.#files();
    if (!built) throw notFound('page', path);
    // The build's addresses are relative to the page, whose own address can be of any depth.
    return built.page.replaceAll('"./assets/', `"${this.#assetsPath}/`);
  }

  /** Answers with the file that the path's parameter `name` names. */
  readonly sendAsset: Middleware = async (ctx) => {
    const file = (await this.#files())?.assets.get(ctx['params']?.name ?? '');
    if (!file) throw notFound('file', ctx.path);
    const encoding =
      ENCODINGS.find((each) => file.content[each] && ctx.acceptsEncodings(each) === each) ?? 'identity';
    const etag = `"${file.etag}.${encoding}"`;
    ctx.set({ etag, vary: 'Accept-Encoding', 'cache-control': 'public, max-age=31536000, immutable' });
    if (matchesEtag(ctx.get('if-none-match'), etag, true)) {
      ctx.status = 304;
      return;
    }
    ctx.type = file.extension;
    if (encoding !== 'identity') ctx.set('content-encoding', encoding);
    ctx.body = file.content[encoding];
  };

  /** Read again if it could not be read. */
  #files(): Promise<WebFiles | undefined> {
    this.#read ??= readWebFiles(this.#folder).catch((error: unknown) => {
      this.#read = undefined;
      throw error;
    });
    return this.#read;
  }
}
