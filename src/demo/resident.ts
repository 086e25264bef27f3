import { callApi } from './api.js';
import { type CertificateAuthority, issueServerCertificate } from './certificates.js';
import type { DemoState } from './state.js';
import { type Behaviour, type Subscriber, startSubscriber } from './subscriber.js';

/** A demo subscriber that is registered for purchases. */
export interface DemoSubscriber extends Subscriber {
  registration: Required<Pick<DemoState, 'endpoint_id' | 'secret' | 'subscriber_port'>>;
}

const NAMES = { dns: ['localhost'], ips: ['127.0.0.1'] };

/**
 * Starts the subscriber that lives as long as `hookline dev` does, at the port where it was registered before; or, the first time,
 * registers it.
 */
export async function startDemoSubscriber(options: {
  state: DemoState;
  authority: CertificateAuthority;
  apiUrl: string;
  firstTime: boolean;
}): Promise<DemoSubscriber> {
  const { state, authority, apiUrl } = options;
  const { endpoint_id, secret, subscriber_port } = state;
  if (endpoint_id && secret && subscriber_port) {
    const certificate = await issueServerCertificate(authority, NAMES);
    const subscriber = await startSubscriber({ certificate, port: subscriber_port });
    subscriber.setSecret(secret);
    return Object.assign(subscriber, { registration: { endpoint_id, secret, subscriber_port } });
  }
  return registerSubscriber({ apiUrl, apiKey: state.api_key, authority, description: 'demo subscriber' });
}

/** Starts a subscriber at a free port and registers it for purchases, through the public API. */
export async function registerSubscriber(options: {
  apiUrl: string;
  apiKey: string;
  authority: CertificateAuthority;
  description: string;
  behaviour?: Behaviour;
  retrySchedule?: readonly string[];
}): Promise<DemoSubscriber> {
  const certificate = await issueServerCertificate(options.authority, NAMES);
  const subscriber = await startSubscriber({ certificate, behaviour: options.behaviour ?? {} });
  try {
    const endpoint = await callApi<{ id: string; secret: string }>(options, 'POST', '/v18.0/endpoints', {
      target_url: subscriber.url,
      event_kinds: ['purchase'],
      description: options.description,
      ...(options.retrySchedule && { retry_schedule: options.retrySchedule }),
    });
    subscriber.setSecret(endpoint.secret);
    const registration = {
      endpoint_id: endpoint.id,
      secret: endpoint.secret,
      subscriber_port: subscriber.port,
    };
    return Object.assign(subscriber, { registration });
  } catch (error) {
    await subscriber.close();
    throw error;
  }
}
