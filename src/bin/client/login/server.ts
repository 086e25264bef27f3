import * as oauth from 'oauth4webapi';
import { CommandError } from '../../command.js';
import { boundedRequest } from '../../process/bounded-fetch.js';

/**
 * The OAuth server of a Hookline server, a client of it, and how requests to it are made. The client is a public one:
 * on a person's own machine there are no secrets of an application. Plain http is for servers on this machine and
 * closed networks: the address is the user's choice.
 *
 * @throws CommandError if there is no such server at the address
 */
export async function discover({ url, client_id }: { url: string; client_id: string }) {
  const options = {
    [oauth.allowInsecureRequests]: url.startsWith('http:'),
    [oauth.customFetch]: boundedRequest,
  };
  const issuer = new URL(url);
  try {
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
    const as = await oauth.processDiscoveryResponse(issuer, response);
    return { as, options, client: { client_id }, auth: oauth.None() };
  } catch (error) {
    throw new CommandError(
      `There is no Hookline server at ${url}, or it has another public address. (${(error as Error).message})`,
    );
  }
}
