import { Schema } from 'mongoose';
import type { SignatureScheme, SigningKey } from '../../domain/delivery/signature.js';
import type { Endpoint, EndpointStatus, VerificationMethod } from '../../domain/endpoint/endpoint.js';
import type { FailingMark } from '../../domain/endpoint/incident.js';
import { listenerUrl } from '../../domain/listener/listener.js';
import { type RecordedFields, recordedFields } from '../change/recorded-fields.js';

/** What an endpoint's owner sets. */
export type EndpointInput = Pick<
  Endpoint,
  | 'target_url'
  | 'event_kinds'
  | 'filter'
  | 'description'
  | 'metadata'
  | 'rate_limit'
  | 'retry_schedule'
  | 'status_reason'
  | 'verification_method'
> &
  Pick<EndpointSecrets, 'headers' | 'verify_token'> & {
    status: EndpointStatus;
    /** What it becomes when it is verified. */
    status_when_verified: 'active' | 'paused';
  };

/** What the owner of a listener sets. */
export type ListenerInput = Pick<EndpointInput, 'event_kinds' | 'filter' | 'description' | 'retry_schedule'>;

/** A listener needs no verification: its program has shown that it wants events by connecting. */
export function listenerFields(id: string, input: ListenerInput): EndpointInput {
  return {
    ...input,
    target_url: listenerUrl(id),
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
  /** What a verification by `graph` sends as `hub.verify_token`. */
  verify_token?: string;
  /** What the subscriber must return in the verification under way. */
  verification_token?: string;
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
}

/** A signing key, encrypted, with what may be known about it without decrypting it. */
export interface SealedKey {
  sealed: string;
  scheme: SignatureScheme;
  /** `whpk_…`; absent with the scheme `v1`, which has no public half. */
  public_key?: string;
  created_at: Date;
  expires_at?: Date;
  /** The version of the endpoint that made it. */
  version?: number;
}

/** A document in MongoDB. Maps whose names the owner chooses are stored as JSON texts, because MongoDB restricts field names. */
export interface EndpointDocument extends RecordedFields {
  _id: string;
  account_id: string;
  verification_revision: number;
  target_url: string;
  listener?: boolean | null;
  event_kinds: string[];
  filter?: string | null;
  description: string;
  metadata: string;
  /** Encrypted. */
  headers?: string | null;
  header_names: string[];
  rate_limit?: number | null;
  status: EndpointStatus;
  status_reason?: string | null;
  status_changed_at: Date;
  status_when_verified: 'active' | 'paused';
  verification_method: VerificationMethod;
  verification_token?: string | null;
  verify_token?: string | null;
  verified_at?: Date | null;
  verified_url?: string | null;
  allowed_rate?: number | null;
  failing?: FailingMark | null;
  /** What disabled it. */
  disabled_by?: string | null;
  retry_schedule?: string[] | null;
  signing_keys: SealedKey[];
  created_at: Date;
  updated_at: Date;
}

export const endpointSchema = new Schema<EndpointDocument>(
  {
    _id: String,
    account_id: { type: String, required: true },
    verification_revision: { type: Number, required: true },
    target_url: { type: String, required: true },
    listener: Boolean,
    event_kinds: { type: [String], required: true },
    filter: String,
    description: { type: String, default: '' },
    metadata: { type: String, required: true },
    headers: String,
    header_names: { type: [String], required: true },
    rate_limit: Number,
    status: { type: String, required: true },
    status_reason: String,
    status_changed_at: { type: Date, required: true },
    status_when_verified: { type: String, required: true },
    verification_method: { type: String, required: true },
    verification_token: String,
    verify_token: String,
    verified_at: Date,
    verified_url: String,
    allowed_rate: Number,
    failing: { type: { since: String, backoff_until: String }, default: undefined, _id: false },
    disabled_by: String,
    retry_schedule: { type: [String], default: undefined },
    signing_keys: {
      type: [
        {
          _id: false,
          sealed: { type: String, required: true },
          scheme: { type: String, required: true },
          public_key: String,
          created_at: Date,
          expires_at: Date,
          version: Number,
        },
      ],
      required: true,
    },
    created_at: { type: Date, required: true },
    updated_at: { type: Date, required: true },
    ...recordedFields,
  },
  { versionKey: false },
);
endpointSchema.index({ account_id: 1, _id: 1 });
