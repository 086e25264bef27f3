import type { Hookline } from '../../clients/typescript/src/index.js';
import { type CertificateAuthority, issueServerCertificate } from './certificates.js';
import type { Registration } from './state.js';
import { type Behaviour, type Subscriber, startSubscriber } from './subscriber.js';

/** A demo subscriber that is registered for purchases. */
export interface DemoSubscriber extends Subscriber {
  registration: Registration;
}

const NAMES = { dns: ['localhost'], ips: ['127.0.0.1'] };

/** Starts a subscriber at the port where it was registered before. */
export async function startRegistered(
  { endpoint_id, secret, subscriber_port }: Registration,
  authority: CertificateAuthority,
): Promise<DemoSubscriber> {
  const certificate = await issueServerCertificate(authority, NAMES);
  const subscriber = await startSubscriber({ certificate, port: subscriber_port });
  subscriber.setSecret(secret);
  return Object.assign(subscriber, { registration: { endpoint_id, secret, subscriber_port } });
}

/** Starts a subscriber at a free port and registers it for purchases, through the public API. */
export async function registerSubscriber(options: {
  hookline: Hookline;
  authority: CertificateAuthority;
  description: string;
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
        description: options.description,
        retry_schedule: options.retrySchedule,
      },
    });
    subscriber.setSecret(secret);
    return Object.assign(subscriber, {
      registration: { endpoint_id, secret, subscriber_port: subscriber.port },
    });
  } catch (error) {
    await subscriber.close();
    throw error;
  }
}
