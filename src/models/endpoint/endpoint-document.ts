import { Schema } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import type { SigningKey } from '../../domain/delivery/signature.js';
import type { Endpoint, EndpointStatus, VerificationMethod } from '../../domain/endpoint/endpoint.js';
import type { FailingMark } from '../../domain/endpoint/incident.js';
import type { Filter } from '../../domain/event/filter.js';

/** What an endpoint's owner sets. */
export type EndpointInput = Pick<
  Endpoint,
  | 'target_url'
  | 'event_kinds'
  | 'filter'
  | 'description'
  | 'metadata'
  | 'headers'
  | 'rate_limit'
  | 'retry_schedule'
  | 'status_reason'
  | 'verification_method'
> & {
  status: EndpointStatus;
  /** What it becomes when it is verified. */
  status_when_verified: 'active' | 'paused';
  /** What a `graph` handshake sends as `hub.verify_token`. */
  verify_token?: string;
};

/** An endpoint with what deliveries need and nobody else sees. */
export interface StoredEndpoint extends Endpoint {
  /** The version since which it has been pending with its URL and method. */
  verification_revision: number;
  /** Newest first. */
  signing_keys: SigningKey[];
  status_when_verified: 'active' | 'paused';
  verify_token?: string;
  /** What must come back in the handshake under way. */
  verification_token?: string;
  /** Where it has shown that it wants events: at another URL it has to show it again. */
  verified_url?: string;
  /** It has been failing. */
  failing?: FailingMark;
  /** The rate that a CloudEvents handshake allowed, deliveries per minute. */
  allowed_rate?: number;
}

interface SealedKey {
  sealed: string;
  created_at: Date;
  expires_at?: Date | null;
}

/** As it is stored: secrets sealed, what its owner shapes freely as JSON texts, because names in it may be any. */
export interface EndpointDocument {
  _id: string;
  account_id: string;
  version: number;
  verification_revision: number;
  target_url: string;
  event_kinds: string[];
  filter?: string | null;
  description: string;
  metadata: string;
  headers?: string | null;
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
    version: { type: Number, required: true },
    verification_revision: { type: Number, required: true },
    target_url: { type: String, required: true },
    event_kinds: { type: [String], required: true },
    filter: String,
    description: { type: String, default: '' },
    metadata: { type: String, required: true },
    headers: String,
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
      type: [{ _id: false, sealed: { type: String, required: true }, created_at: Date, expires_at: Date }],
      required: true,
    },
    created_at: { type: Date, required: true },
    updated_at: { type: Date, required: true },
  },
  { versionKey: false },
);
endpointSchema.index({ account_id: 1, _id: 1 });

/** A sealed text of an endpoint, by the place it belongs to: it opens nowhere else. */
type SealedField = 'signing' | 'headers' | 'verify_token' | 'verification';

/** Turns endpoints into what is stored, and back: the one place where their secrets are sealed and opened. */
export class EndpointCodec {
  private readonly box: SecretBox | undefined;

  /** @param box absent in a process that has nothing to do with endpoints */
  constructor(box: SecretBox | undefined) {
    this.box = box;
  }

  seal(endpointId: string, field: SealedField, text: string): string {
    return this.requireBox().seal(text, `${endpointId}:${field}`);
  }

  sealKeys(endpointId: string, keys: readonly SigningKey[]): SealedKey[] {
    return keys.map(({ secret, created_at, expires_at }) => ({
      sealed: this.seal(endpointId, 'signing', secret),
      created_at: new Date(created_at),
      ...(expires_at && { expires_at: new Date(expires_at) }),
    }));
  }

  /** Whether any of its secrets has been sealed with an older key than the first. */
  isOutdated({ headers, verify_token, verification_token, signing_keys }: EndpointDocument): boolean {
    const texts = [headers, verify_token, verification_token, ...signing_keys.map(({ sealed }) => sealed)];
    return texts.some((text) => text && this.requireBox().isOutdated(text));
  }

  /** Its secrets, sealed again with the newest key. */
  reseal({ _id, headers, verify_token, verification_token, signing_keys }: EndpointDocument) {
    const again = (text: string | null | undefined, field: SealedField) =>
      text ? this.seal(_id, field, this.open(_id, field, text)) : undefined;
    const fields = {
      headers: again(headers, 'headers'),
      verify_token: again(verify_token, 'verify_token'),
      verification_token: again(verification_token, 'verification'),
      signing_keys: signing_keys.map((key) => ({ ...key, sealed: again(key.sealed, 'signing') ?? '' })),
    };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }

  toFields(id: string, { filter, headers, metadata, verify_token, ...plain }: EndpointInput) {
    return {
      ...plain,
      filter: filter && JSON.stringify(filter),
      metadata: JSON.stringify(metadata),
      headers:
        Object.keys(headers).length > 0 ? this.seal(id, 'headers', JSON.stringify(headers)) : undefined,
      verify_token: verify_token && this.seal(id, 'verify_token', verify_token),
      rate_limit: plain.rate_limit,
      status_reason: plain.status_reason,
      retry_schedule: plain.retry_schedule,
    };
  }

  toEndpoint(document: EndpointDocument): StoredEndpoint {
    const { _id: id, filter, headers, verify_token, verification_token } = document;
    return {
      id,
      account_id: document.account_id,
      version: document.version,
      verification_revision: document.verification_revision,
      target_url: document.target_url,
      event_kinds: document.event_kinds,
      ...(filter && { filter: JSON.parse(filter) as Filter }),
      description: document.description,
      metadata: JSON.parse(document.metadata) as Record<string, string>,
      headers: headers ? (JSON.parse(this.open(id, 'headers', headers)) as Record<string, string>) : {},
      ...(document.rate_limit && { rate_limit: document.rate_limit }),
      status: document.status,
      ...(document.status_reason && { status_reason: document.status_reason }),
      status_changed_at: document.status_changed_at.toISOString(),
      status_when_verified: document.status_when_verified,
      verification_method: document.verification_method,
      ...(document.verified_at && { verified_at: document.verified_at.toISOString() }),
      ...(document.failing && { failing: document.failing }),
      ...(document.verified_url && { verified_url: document.verified_url }),
      ...(verify_token && { verify_token: this.open(id, 'verify_token', verify_token) }),
      ...(verification_token && {
        verification_token: this.open(id, 'verification', verification_token),
      }),
      ...(document.allowed_rate && { allowed_rate: document.allowed_rate }),
      ...(document.retry_schedule && { retry_schedule: document.retry_schedule }),
      signing_keys: document.signing_keys.map(({ sealed, created_at, expires_at }) => ({
        secret: this.open(id, 'signing', sealed),
        created_at: created_at.toISOString(),
        ...(expires_at && { expires_at: expires_at.toISOString() }),
      })),
      created_at: document.created_at.toISOString(),
      updated_at: document.updated_at.toISOString(),
    };
  }
  private open(endpointId: string, field: SealedField, text: string): string {
    return this.requireBox().open(text, `${endpointId}:${field}`);
  }

  private requireBox(): SecretBox {
    if (!this.box) throw new Error('Endpoints cannot be read or written without HOOKLINE_SECRET_KEYS.');
    return this.box;
  }
}
