import { present } from '../basics/objects.js';
import type { PortalLook } from '../look/portal-look.js';
import { cutText } from '../text/unicode.js';
import { PROBLEMS, type ProblemCode } from './problems.js';

/** One place in the input that is wrong. */
export interface InputError {
  /** JSON Pointer (RFC 6901) into the body; absent if the error is in a parameter or header. */
  pointer?: string;
  /** Name of a path, query or header parameter. */
  parameter?: string;
  /** Error and remedy: the end of a sentence that begins with the place, such as `must be a string`. */
  detail: string;
}

/** Where a link to the portal came from that works no more, so that its holder is told where to get another. */
export type EndedLink = PortalLook & { return_url?: string };

/** The most wrong places that a response tells of. */
export const MAX_ERRORS = 20;
/** Characters of a name or a pointer that is told; more is cut. */
export const MAX_SHOWN = 200;
/** Characters of what is told of an error as a whole: enough for as many places as there may be. */
const MAX_DETAIL = 8_000;

/**
 * An error that the caller receives as a problem document (RFC 9457). Anything else that is thrown becomes a bare 500.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: readonly InputError[];
  readonly headers: Readonly<Record<string, string>>;
  readonly portal: EndedLink | undefined;

  /**
   * @param detail a sentence for the person who reads it: what happened, and what to change
   * @param options `errors`: each wrong place, of which the first {@link MAX_ERRORS} are told, so that a response does
   * not grow with what was sent; `headers`: sent along, such as `Retry-After`; `portal`: of a link that has ended
   */
  constructor(
    code: ProblemCode,
    detail: string,
    options: {
      errors?: readonly InputError[];
      headers?: Record<string, string>;
      portal?: EndedLink;
      cause?: unknown;
    } = {},
  ) {
    super(cutText(detail, MAX_DETAIL, '…'), { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.errors = (options.errors ?? []).slice(0, MAX_ERRORS).map(shortened);
    this.headers = options.headers ?? {};
    this.portal = options.portal;
  }

  get status(): number {
    return PROBLEMS[this.code][0];
  }

  get title(): string {
    return PROBLEMS[this.code][1];
  }
}

function shortened({ pointer, parameter, detail }: InputError): InputError {
  const cut = (text: string | undefined, most = MAX_SHOWN) => text && cutText(text, most, '…');
  return present({
    pointer: cut(pointer),
    parameter: cut(parameter),
    detail: cutText(detail, 5 * MAX_SHOWN, '…'),
  });
}

/** The caller's account has nothing of that id. @param resource as a person calls it: `profile`, `API key` */
export function notFound(resource: string, id: string): Problem {
  return new Problem('not_found', `There is no ${resource} ${id}.`);
}
