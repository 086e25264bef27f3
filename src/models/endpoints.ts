import { type Connection, type Model, Schema } from 'mongoose';
import type { Endpoint, EndpointStatus } from '../domain/endpoint.js';
import { newId } from '../domain/ids.js';
import type { FailingMark } from '../domain/incident.js';
import { newSigningSecret } from '../domain/signature.js';
import { ShortCache } from './short-cache.js';

/** What an endpoint's owner sets. */
export type EndpointInput = Pick<
  Endpoint,
  'target_url' | 'event_kinds' | 'description' | 'retry_schedule'
> & {
  status: 'active' | 'paused';
};

/** An endpoint with what deliveries need and nobody else sees. */
export interface StoredEndpoint extends Endpoint {
  /** Newest first. */
  signing_secrets: string[];
  /** It has been failing. */
  failing?: FailingMark;
}

interface EndpointDocument {
  _id: string;
  account_id: string;
  target_url: string;
  event_kinds: string[];
  description: string;
  status: EndpointStatus;
  status_reason?: string | null;
  retry_schedule?: string[] | null;
  signing_secrets: string[];
  failing?: FailingMark | null;
  /** What disabled it. */
  disabled_by?: string | null;
  created_at: Date;
  updated_at: Date;
}

const schema = new Schema<EndpointDocument>(
  {
    _id: String,
    account_id: { type: String, required: true },
    target_url: { type: String, required: true },
    event_kinds: { type: [String], required: true },
    description: { type: String, default: '' },
    status: { type: String, required: true },
    status_reason: String,
    retry_schedule: { type: [String], default: undefined },
    signing_secrets: { type: [String], required: true },
    failing: { type: { since: String, backoff_until: String }, default: undefined, _id: false },
    disabled_by: String,
    created_at: { type: Date, required: true },
    updated_at: { type: Date, required: true },
  },
  { versionKey: false },
);
schema.index({ account_id: 1, _id: 1 });

/** A change made by another process is seen after this long at the latest, milliseconds. */
const CACHE_MS = 1_000;

export class EndpointRepository {
  private readonly model: Model<EndpointDocument>;
  private readonly byId = new ShortCache<StoredEndpoint | undefined>(CACHE_MS);
  private readonly byAccount = new ShortCache<StoredEndpoint[]>(CACHE_MS);

  constructor(connection: Connection) {
    this.model = connection.model<EndpointDocument>('endpoint', schema, 'endpoints');
  }

  /** Registers an endpoint, with a new signing secret. */
  async create(accountId: string, input: EndpointInput): Promise<StoredEndpoint> {
    const now = new Date();
    const document: EndpointDocument = {
      ...input,
      _id: newId('endpoint'),
      account_id: accountId,
      signing_secrets: [newSigningSecret()],
      created_at: now,
      updated_at: now,
    };
    await this.model.create(document);
    this.forget(accountId, document._id);
    return toEndpoint(document);
  }

  /** One endpoint of an account; `undefined` where it has none such. */
  async get(accountId: string, endpointId: string): Promise<StoredEndpoint | undefined> {
    const endpoint = await this.byId.get(endpointId, async () => {
      const document = await this.model.findById(endpointId).lean();
      return document ? toEndpoint(document) : undefined;
    });
    return endpoint?.account_id === accountId ? endpoint : undefined;
  }

  /** All endpoints of an account, oldest first. */
  all(accountId: string): Promise<StoredEndpoint[]> {
    return this.byAccount.get(accountId, async () => {
      const documents = await this.model.find({ account_id: accountId }).sort({ _id: 1 }).lean();
      return documents.map(toEndpoint);
    });
  }

  /** Replaces what the owner sets. @returns `undefined` where the account has no such endpoint */
  async replace(
    accountId: string,
    endpointId: string,
    input: EndpointInput,
  ): Promise<StoredEndpoint | undefined> {
    const { retry_schedule, ...rest } = input;
    const document = await this.model
      .findOneAndUpdate(
        { _id: endpointId, account_id: accountId },
        {
          $set: { ...rest, updated_at: new Date(), ...(retry_schedule && { retry_schedule }) },
          $unset: { status_reason: 1, ...(!retry_schedule && { retry_schedule: 1 }) },
        },
        { returnDocument: 'after' },
      )
      .lean();
    this.forget(accountId, endpointId);
    return document ? toEndpoint(document) : undefined;
  }

  /**
   * Takes an active endpoint out of service, saying why.
   *
   * @param cause names what does so
   * @returns whether it is out of service for this cause, now or since an earlier call
   */
  async disable(accountId: string, endpointId: string, reason: string, cause: string): Promise<boolean> {
    await this.model.updateOne(
      { _id: endpointId, account_id: accountId, status: 'active' },
      {
        $set: { status: 'disabled', status_reason: reason, disabled_by: cause, updated_at: new Date() },
        $unset: { failing: 1 },
      },
    );
    this.forget(accountId, endpointId);
    const document = await this.model.findById(endpointId).lean();
    return document?.status === 'disabled' && document.disabled_by === cause;
  }

  /** Keeps with an endpoint that it is failing, or, with `null`, that it is not. */
  async setFailing(accountId: string, endpointId: string, failing: FailingMark | null): Promise<void> {
    await this.model.updateOne(
      { _id: endpointId, account_id: accountId },
      failing ? { $set: { failing } } : { $unset: { failing: 1 } },
    );
    this.forget(accountId, endpointId);
  }

  /** @returns whether there was one */
  async delete(accountId: string, endpointId: string): Promise<boolean> {
    const { deletedCount } = await this.model.deleteOne({ _id: endpointId, account_id: accountId });
    this.forget(accountId, endpointId);
    return deletedCount > 0;
  }

  private forget(accountId: string, endpointId: string): void {
    this.byId.forget(endpointId);
    this.byAccount.forget(accountId);
  }
}

function toEndpoint(document: EndpointDocument): StoredEndpoint {
  return {
    id: document._id,
    account_id: document.account_id,
    target_url: document.target_url,
    event_kinds: document.event_kinds,
    description: document.description,
    status: document.status,
    status_reason: document.status_reason ?? undefined,
    retry_schedule: document.retry_schedule ?? undefined,
    signing_secrets: document.signing_secrets,
    failing: document.failing ?? undefined,
    created_at: document.created_at.toISOString(),
    updated_at: document.updated_at.toISOString(),
  };
}
