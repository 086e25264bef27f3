/**
 * Typed client of the Hookline API, for Node.js and browsers.
 *
 * @module
 */
export {
  type EventToPost,
  Hookline,
  type HooklineOptions,
  type ListOptions,
  newIdempotencyKey,
  type PostEventOptions,
  type PostEventsOptions,
} from './client.js';
export {
  type FieldError,
  HooklineConnectionError,
  HooklineError,
  type Problem,
  UNEXPECTED_ANSWER,
} from './errors.js';
export type { RetryOptions } from './retry.js';
export type {
  AnswerOf,
  ItemOf,
  ListPath,
  Method,
  operations,
  PathsWith,
  paths,
  QueryOf,
  Schemas,
} from './types.js';
