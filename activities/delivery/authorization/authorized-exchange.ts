import type { Authentication } from '../../../src/domain/sending/delivery-options.js';
import type { HttpExchange, HttpPoster, HttpRequest } from '../../http/exchange.js';
import { AccessTokens, NoTokenError } from './access-tokens.js';

/** An exchange with an endpoint, and the token that was sent. */
type AuthorizedExchange = HttpExchange & { token?: string };

/**
 * Sends requests with the token that an endpoint's authentication asks for. A token of client credentials is fetched
 * within the time of the request. If the endpoint answers 401 to one that was kept, the request is sent once more with
 * a new one: nothing was accepted.
 */
export function createAuthorizedExchange(poster: HttpPoster) {
  const tokens = new AccessTokens(poster);

  return async function exchangeAs(
    authentication: Authentication | undefined,
    request: HttpRequest,
    exchange: HttpPoster['exchange'] = poster.exchange,
  ): Promise<AuthorizedExchange> {
    if (!authentication) return exchange(request);
    const sendWith = async (token: string, timeoutMs: number): Promise<AuthorizedExchange> => {
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      return { ...(await exchange({ ...request, headers, timeoutMs })), token };
    };
    if (authentication.type === 'bearer') return sendWith(authentication.token, request.timeoutMs);
    const end = performance.now() + request.timeoutMs;
    const left = () => Math.max(1, Math.ceil(end - performance.now()));
    const tokenOf = (refused?: string) =>
      tokens.of(authentication, { account: request.account, timeoutMs: left() }, refused);
    try {
      const token = await tokenOf();
      const answer = await sendWith(token, left());
      if (!('statusCode' in answer) || answer.statusCode !== 401) return answer;
      const renewed = await tokenOf(token).catch(() => token);
      return renewed === token ? answer : await sendWith(renewed, left());
    } catch (error) {
      if (!(error instanceof NoTokenError)) throw error;
      const said = `no access token could be fetched from the token URL: ${error.message}`;
      return { error_code: 'authorization_failed', error: said, trace: { timings: {} } };
    }
  };
}
