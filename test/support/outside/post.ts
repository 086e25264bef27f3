import type { HttpAnswer, HttpPoster, HttpTrace } from '../../../activities/http/exchange.js';
import type { Attempt } from '../../../src/domain/attempt/attempt.js';

/** An answer, or why there is none, with every field to look at. */
export type Posted = Partial<HttpAnswer> & Pick<Attempt, 'error_code' | 'error'> & { trace: HttpTrace };

/** Posts an empty object. */
export async function post({ exchange }: HttpPoster, url: string, timeoutMs = 5_000): Promise<Posted> {
  return exchange({ method: 'POST', url, headers: {}, body: '{}', timeoutMs });
}
