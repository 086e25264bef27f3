import * as oauth from 'oauth4webapi';
import { CommandError } from '../../command.js';

/** The OAuth server of a Hookline server, and how requests to it are made. */
export interface OAuthServer {
  as: oauth.AuthorizationServer;
  /** Plain http is for servers on this machine and closed networks: the address is the user's choice. */
  options: { [oauth.allowInsecureRequests]: boolean };
}

/** @throws CommandError if there is no such server at the address */
export async function discover(url: string): Promise<OAuthServer> {
  const options = { [oauth.allowInsecureRequests]: url.startsWith('http:') };
  const issuer = new URL(url);
  try {
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
    return { as: await oauth.processDiscoveryResponse(issuer, response), options };
  } catch (error) {
    throw new CommandError(
      `There is no Hookline server at ${url}, or it has another public address. (${(error as Error).message})`,
    );
  }
}

/** A public client: on a person's own machine there are no secrets of an application. */
export function clientOf(client_id: string): { client: oauth.Client; auth: oauth.ClientAuth } {
  return { client: { client_id }, auth: oauth.None() };
}
