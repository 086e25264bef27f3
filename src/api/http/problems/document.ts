import type { Problem } from '../../../domain/http/problem.js';

/** The media type of a problem document. */
export const PROBLEM_TYPE = 'application/problem+json';

/** A problem document (RFC 9457). @param publicUrl where `/errors/{code}` says more about the problem */
export function problemDocument(problem: Problem, publicUrl: string, request_id: string) {
  return {
    type: `${publicUrl}/errors/${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    request_id,
    ...(problem.errors.length > 0 && { errors: problem.errors }),
    ...(problem.portal && { portal: problem.portal }),
  };
}
