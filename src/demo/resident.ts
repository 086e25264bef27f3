import { setTimeout as delay } from 'node:timers/promises';
import type { Hookline } from '../../clients/typescript/src/index.js';
import { type CertificateAuthority, issueServerCertificate } from './certificates.js';
import { isListening } from './local-server.js';
import type { DemoRegistration } from './state.js';
import { type Behaviour, type Subscriber, startSubscriber } from './subscriber.js';

/** A demo subscriber that is registered for purchases. */
export interface DemoSubscriber extends Subscriber {
  registration: DemoRegistration;
}

const NAMES = { dns: ['localhost'], ips: ['127.0.0.1'] };

/** Description of the endpoints that `npm run demo` registers and deletes again. */
const PASSING = 'npm run demo';
/** How long an endpoint may take to be verified, milliseconds. */
const VERIFIED_WITHIN_MS = 30_000;
const POLL_MS = 100;

/**
 * Starts a subscriber at the port where it was registered before; where that is taken, such as by the same demo of
 * another folder, at another port, with its endpoint.
 */
export async function startRegistered(
  { endpoint_id, secret, subscriber_port }: DemoRegistration,
  authority: CertificateAuthority,
  hookline: Hookline,
): Promise<DemoSubscriber> {
  const certificate = await issueServerCertificate(authority, NAMES);
  const subscriber = await startSubscriber({ certificate, port: subscriber_port }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    return startSubscriber({ certificate });
  });
  try {
    subscriber.setSecret(secret);
    if (subscriber.port !== subscriber_port) {
      const params = { path: { id: endpoint_id } };
      await hookline.patch('/v18.0/endpoints/{id}', { params, body: { target_url: subscriber.url } });
      await untilVerified(hookline, endpoint_id);
    }
    return Object.assign(subscriber, {
      registration: { endpoint_id, secret, subscriber_port: subscriber.port },
    });
  } catch (error) {
    await subscriber.close();
    throw error;
  }
}

/** Starts a subscriber at a free port and registers it for purchases, through the public API, until it gets them. */
export async function registerSubscriber(options: {
  hookline: Hookline;
  authority: CertificateAuthority;
  /** Description of the endpoint. Default: that of `npm run demo`. */
  description?: string;
  behaviour?: Behaviour;
  retrySchedule?: string[];
}): Promise<DemoSubscriber> {
  const certificate = await issueServerCertificate(options.authority, NAMES);
  const subscriber = await startSubscriber({ certificate, behaviour: options.behaviour ?? {} });
  try {
    const { id: endpoint_id, secret = '' } = await options.hookline.post('/v18.0/endpoints', {
      body: {
        target_url: subscriber.url,
        event_kinds: ['purchase'],
        description: options.description ?? PASSING,
        retry_schedule: options.retrySchedule,
      },
    });
    subscriber.setSecret(secret);
    await untilVerified(options.hookline, endpoint_id);
    return Object.assign(subscriber, {
      registration: { endpoint_id, secret, subscriber_port: subscriber.port },
    });
  } catch (error) {
    await subscriber.close();
    throw error;
  }
}

/** Deletes the endpoints of purchases whose process was killed: every later purchase would fail at them. */
export async function deleteAbandoned(hookline: Hookline): Promise<void> {
  for await (const { id, description, target_url } of hookline.list('/v18.0/endpoints')) {
    if (description !== PASSING || (await isListening(Number(new URL(target_url).port)))) continue;
    await hookline.delete('/v18.0/endpoints/{id}', { params: { path: { id } } });
  }
}

/** Waits until an endpoint gets events. @throws Error that says why it does not */
async function untilVerified(hookline: Hookline, id: string): Promise<void> {
  const deadline = Date.now() + VERIFIED_WITHIN_MS;
  for (;;) {
    const endpoint = await hookline.get('/v18.0/endpoints/{id}', { params: { path: { id } } });
    if (endpoint.status !== 'pending') return;
    if (Date.now() > deadline)
      throw new Error(`The demo's endpoint ${id} was not verified: ${endpoint.status_reason}`);
    await delay(POLL_MS);
  }
}
