import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Puts messages and stack traces of failures into payloads, so that they are encrypted as well. The SDK loads this
 * module by its path, where payloads are encrypted; workflows do without it, so their failures must say nothing in
 * their messages that payloads say.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
