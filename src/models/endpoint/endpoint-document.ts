import type { SignatureScheme, SigningKey } from '../../domain/delivery/signature.js';
import type { FailingMark } from '../../domain/endpoint/breaker/circuit-breaker.js';
import type { Endpoint, EndpointStatus, VerificationMethod } from '../../domain/endpoint/endpoint.js';
import type { Ordering, OrderSkip } from '../../domain/event/ordering.js';
import { inboxUrl } from '../../domain/listener/inbox.js';
import { listenerUrl } from '../../domain/listener/listener.js';
import type { DeliveryOptions, DeliverySecrets } from '../../domain/sending/delivery-options.js';
import { recordedFields } from '../change/change-document.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';

/** Fields that an endpoint's owner sets. Its delivery options are not masked. */
export type EndpointInput = Pick<
  Endpoint,
  | 'target_url'
  | 'event_kinds'
  | 'filter'
  | 'description'
  | 'metadata'
  | 'legacy_header_prefix'
  | 'rate_limit'
  | 'retry_schedule'
  | 'ordering'
  | 'order_skip'
  | 'order_skip_after'
  | 'status_reason'
  | 'verification_method'
  | keyof DeliveryOptions
> &
  Pick<EndpointSecrets, 'headers' | 'verify_token'> & {
    status: EndpointStatus;
    /** Its status after verification. */
    status_when_verified: 'active' | 'paused';
  };

/** Fields that the owner of a listener sets. */
export type ListenerInput = Pick<EndpointInput, 'event_kinds' | 'filter' | 'description' | 'retry_schedule'>;

/** A listener needs no verification: its program has shown that it wants events by connecting. */
export function listenerFields(id: string, input: ListenerInput, isInbox = false): EndpointInput {
  return {
    ...input,
    target_url: isInbox ? inboxUrl(id) : listenerUrl(id),
    metadata: {},
    headers: {},
    status: 'active',
    status_when_verified: 'active',
    verification_method: 'challenge',
  };
}

/** The secrets of an endpoint, decrypted by {@link EndpointRepository.secretsOf} alone. */
export interface EndpointSecrets {
  /** Sent with each delivery. */
  headers: Record<string, string>;
  /** Newest first. */
  signing_keys: SigningKey[];
  /** Token that a verification by `graph` sends as `hub.verify_token`. */
  verify_token?: string;
  /** Token that the subscriber must return in the verification under way. */
  verification_token?: string;
  /** Secrets that its delivery options mask. */
  options: DeliverySecrets;
}

/** An endpoint as it is stored. Its secrets are still encrypted. */
export interface StoredEndpoint extends Endpoint {
  /** The version since which it has been pending with its URL and method. */
  verification_revision: number;
  status_when_verified: 'active' | 'paused';
  /** The URL that was verified. Another URL has to be verified again. */
  verified_url?: string;
  /** Set while it is failing. */
  failing?: FailingMark;
  /** The rate that a CloudEvents subscriber allowed, deliveries per minute. */
  allowed_rate?: number;
  sealed: SealedSecrets;
}

/** An endpoint whose secrets have been decrypted. */
export interface EndpointWithSecrets extends StoredEndpoint {
  secrets: EndpointSecrets;
}

/** The secrets of an endpoint as they are stored: encrypted by a {@link SecretBox}. */
export interface SealedSecrets {
  headers?: string;
  /** Newest first. */
  signing_keys: SealedKey[];
  verify_token?: string;
  verification_token?: string;
  option_secrets?: string;
}

/** A signing key, encrypted, with what may be known about it without decrypting it. */
export interface SealedKey {
  sealed: string;
  scheme: SignatureScheme;
  /** Absent if the secret is shared. */
  public_key?: string;
  created_at: Date;
  expires_at?: Date;
  /** The version of the endpoint that made it. */
  version?: number;
}

/** Maps whose names the owner chooses are stored as JSON texts, because MongoDB restricts field names. */
export const endpoints = collection(
  'endpoints',
  {
    _id: must(String),
    account_id: must(String),
    verification_revision: must(Number),
    target_url: must(String),
    listener: may(Boolean),
    inbox: may(Boolean),
    event_kinds: must<string[]>([String]),
    filter: may(String),
    description: must(String, { required: false, default: '' }),
    metadata: must(String),
    /** Encrypted. */
    headers: may(String),
    header_names: must<string[]>([String]),
    legacy_header_prefix: may(String),
    rate_limit: may(Number),
    ordering: may<Exclude<Ordering, 'none'>>(String),
    order_skip: may<OrderSkip>(String),
    order_skip_after: may(String),
    status: must<EndpointStatus>(String),
    status_reason: may(String),
    status_changed_at: must(Date),
    status_when_verified: must<'active' | 'paused'>(String),
    verification_method: must<VerificationMethod>(String),
    verification_token: may(String),
    verify_token: may(String),
    verified_at: may(Date),
    verified_url: may(String),
    allowed_rate: may(Number),
    failing: may<FailingMark>({ since: String, backoff_until: String }, { _id: false }),
    /** Cause for which it was disabled. */
    disabled_by: may(String),
    retry_schedule: may<string[]>([String]),
    /** `DeliveryOptions` as JSON, masked; and what is masked in them, encrypted. */
    options: may(String),
    option_secrets: may(String),
    signing_keys: must<SealedKey[]>([
      {
        _id: false,
        sealed: must(String),
        scheme: must(String),
        public_key: String,
        created_at: Date,
        expires_at: Date,
        version: Number,
      },
    ]),
    created_at: must(Date),
    updated_at: must(Date),
    ...recordedFields,
  },
  { indexes: [{ account_id: 1, _id: 1 }] },
);
export type EndpointDocument = DocumentIn<typeof endpoints>;
