import type { DeliveryStatus, Endpoint, Replay } from '../api/types.js';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | '';

const DELIVERY: Record<DeliveryStatus, [Tone, string]> = {
  delivering: ['info', 'Delivering'],
  retrying: ['warn', 'Retrying'],
  parked: ['warn', 'Parked'],
  delivered: ['good', 'Delivered'],
  exhausted: ['bad', 'Exhausted'],
  expired: ['bad', 'Expired'],
  cancelled: ['', 'Cancelled'],
  terminated: ['bad', 'Terminated'],
};

type ReplayState = NonNullable<Replay['state']>;

const REPLAY: Record<ReplayState, Tone> = {
  running: 'info',
  paused: 'warn',
  finished: 'good',
  cancelled: '',
};

export function Badge({ tone, children, plain }: { tone: Tone; children: React.ReactNode; plain?: boolean }) {
  return <span className={`badge ${tone}${plain ? ' plain' : ''}`}>{children}</span>;
}

export function DeliveryBadge({ status }: { status: DeliveryStatus }) {
  const [tone, text] = DELIVERY[status];
  return <Badge tone={tone}>{text}</Badge>;
}

export const deliveryTone = (status: DeliveryStatus): Tone => DELIVERY[status][0];
export const deliveryWord = (status: DeliveryStatus): string => DELIVERY[status][1];

export function EndpointBadge({ endpoint }: { endpoint: Pick<Endpoint, 'status' | 'incident'> }) {
  if (endpoint.status === 'active')
    return endpoint.incident ? <Badge tone="bad">Failing</Badge> : <Badge tone="good">Active</Badge>;
  if (endpoint.status === 'pending') return <Badge tone="info">Not verified</Badge>;
  return <Badge tone={endpoint.status === 'paused' ? 'warn' : 'bad'}>{capitalize(endpoint.status)}</Badge>;
}

/** Marks an endpoint that is temporary: a test inbox, or what `hookline listen` has made. */
export function ListenerBadge({ endpoint }: { endpoint: Pick<Endpoint, 'listener' | 'inbox'> }) {
  if (endpoint.inbox)
    return (
      <span
        className="badge info plain"
        title="Shows what it received, and is deleted an hour after it was made"
      >
        Test inbox
      </span>
    );
  if (!endpoint.listener) return null;
  return (
    <span className="badge info plain" title="Made by hookline listen, and deleted when that has ended">
      Listener
    </span>
  );
}

export function ReplayBadge({ state }: { state: ReplayState }) {
  return <Badge tone={REPLAY[state]}>{capitalize(state)}</Badge>;
}

/** The answer of an attempt: its status, or why there was none. */
export function AnswerBadge({ status_code, error_code }: { status_code?: number; error_code?: string }) {
  if (status_code === undefined)
    return <Badge tone="bad">{(error_code ?? 'no response').replaceAll('_', ' ')}</Badge>;
  return <Badge tone={status_code >= 200 && status_code < 300 ? 'good' : 'bad'}>{status_code}</Badge>;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
