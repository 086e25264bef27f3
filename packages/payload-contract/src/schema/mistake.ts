/** The most places that are told. */
export const MAX_ERRORS = 20;

/** A place that is wrong, in a payload or in a schema. */
export interface Mistake {
  /** JSON Pointer (RFC 6901). */
  pointer: string;
  /** Error and remedy: the end of a sentence that begins with the place, such as `must be a string`. */
  detail: string;
}
