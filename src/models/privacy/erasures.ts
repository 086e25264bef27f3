import { type Connection, Schema } from 'mongoose';
import { type Origin, systemOrigin } from '../../domain/change/change.js';
import type {
  Erasure,
  ErasurePlan,
  ErasureScope,
  ErasureStatus,
  OpenRule,
} from '../../domain/privacy/erasure.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { type RecordedFields, recordedFields } from '../change/recorded-fields.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';

interface ErasureDocument extends RecordedFields, ErasureScope {
  _id: string;
  account_id: string;
  status: ErasureStatus;
  open: OpenRule;
  requested_at: Date;
  requested_by: string;
  erased_at?: Date | null;
  completed_at?: Date | null;
  reapplied_at?: Date | null;
  key_id: string;
  key_created_at: Date;
  cancelled_deliveries: number;
}

/** Erasures that are read at once. */
const READ_AT_ONCE = 500;

const number = { type: Number, required: true };
const time = { type: Date, required: true };
const text = { type: String, required: true };

const schema = new Schema<ErasureDocument>(
  {
    _id: String,
    account_id: text,
    status: text,
    open: text,
    requested_at: time,
    requested_by: text,
    erased_at: Date,
    completed_at: Date,
    reapplied_at: Date,
    key_id: text,
    key_created_at: time,
    events: number,
    deliveries: number,
    open_deliveries: number,
    cancelled_deliveries: number,
    ...recordedFields,
  },
  { versionKey: false },
);
schema.index({ account_id: 1, _id: 1 });

/** Erasures of subjects: certificates, which are kept. */
export class ErasureRepository {
  private readonly erasures: Recorded<ErasureDocument>;

  constructor(connection: Connection, changes: ChangeRepository) {
    const model = connection.model<ErasureDocument>('erasure', schema, 'erasures');
    this.erasures = new Recorded(model, changes, {
      kind: 'erasure',
      idOf: ({ _id }) => _id,
      accountField: 'account_id',
      show: (document) => ({ ...toErasure(document) }),
    });
  }

  /** Records an erasure that begins. A repeat records nothing. */
  async begin(plan: ErasurePlan, scope: ErasureScope): Promise<void> {
    try {
      await this.erasures.create(
        {
          _id: plan.erasure_id,
          account_id: plan.account_id,
          status: 'waiting',
          open: plan.open,
          requested_at: new Date(plan.requested_at),
          requested_by: plan.origin.actor.id,
          key_id: plan.key_id,
          key_created_at: new Date(plan.key_created_at),
          ...scope,
          cancelled_deliveries: 0,
        },
        plan.origin,
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** Records that the key is deleted. A repeat changes nothing. */
  async erased({ account_id, erasure_id }: ErasurePlan): Promise<void> {
    await this.erasures.change({ _id: erasure_id, account_id }, systemOrigin('erasure'), ({ status }, now) =>
      status === 'waiting' ? { action: 'updated', set: { status: 'erased', erased_at: now } } : undefined,
    );
  }

  /** Records that nothing of the subject is open any more. A repeat changes nothing. */
  async complete({ account_id, erasure_id }: ErasurePlan, cancelled_deliveries: number): Promise<void> {
    await this.erasures.change({ _id: erasure_id, account_id }, systemOrigin('erasure'), ({ status }, now) =>
      status === 'complete'
        ? undefined
        : { action: 'updated', set: { status: 'complete', completed_at: now, cancelled_deliveries } },
    );
  }

  /**
   * Records that a key is deleted again which a restored backup has brought back, and the erasure itself, if the backup is older than that.
   *
   * @param erasure as it was recorded before
   */
  async reapply(accountId: string, erasure: Erasure, origin: Origin): Promise<void> {
    const reapplied = { status: 'erased', completed_at: null, reapplied_at: new Date() } as const;
    if (await this.restore(accountId, { ...erasure, status: 'erased' }, origin, reapplied)) return;
    await this.erasures.change({ _id: erasure.id, account_id: accountId }, origin, ({ erased_at }) => ({
      action: 'updated',
      set: { ...reapplied, erased_at: erased_at ?? dateOf(erasure.erased_at) },
    }));
  }

  /** Records an erasure as it was, which a restored backup does not have. @returns whether it was not there */
  async restore(
    accountId: string,
    { covered, key, ...erasure }: Erasure,
    origin: Origin,
    changed: Partial<Pick<ErasureDocument, 'completed_at' | 'reapplied_at'>> = {},
  ): Promise<boolean> {
    try {
      const times = {
        erased_at: dateOf(erasure.erased_at),
        completed_at: dateOf(erasure.completed_at),
        reapplied_at: dateOf(erasure.reapplied_at),
        ...changed,
      };
      await this.erasures.create(
        {
          _id: erasure.id,
          account_id: accountId,
          status: erasure.status,
          open: erasure.open,
          requested_at: new Date(erasure.requested_at),
          requested_by: erasure.requested_by,
          ...Object.fromEntries(Object.entries(times).filter(([, at]) => at)),
          key_id: key.id,
          key_created_at: new Date(key.created_at),
          ...covered,
          cancelled_deliveries: erasure.cancelled_deliveries,
        },
        origin,
      );
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return false;
    }
  }

  /** The erasures of all accounts, oldest first. */
  async *all(): AsyncIterable<{ accountId: string; erasure: Erasure }> {
    for (let last = ''; ; ) {
      const documents = (await this.erasures
        .find({ _id: { $gt: last } })
        .sort({ _id: 1 })
        .limit(READ_AT_ONCE)
        .lean()) as ErasureDocument[];
      for (const document of documents)
        yield { accountId: document.account_id, erasure: toErasure(document) };
      const newest = documents.at(-1);
      if (!newest) return;
      last = newest._id;
    }
  }

  /** An erasure of an account; `undefined` if the account has no such erasure. */
  async get(accountId: string, id: string): Promise<Erasure | undefined> {
    const document = await this.erasures.findOne({ _id: id, account_id: accountId });
    return document && toErasure(document);
  }

  /** A page of an account's erasures, newest first. @param before only those older than the one of this id */
  async list(accountId: string, limit: number, before?: string): Promise<Erasure[]> {
    const documents = (await this.erasures
      .find({ account_id: accountId, ...(before !== undefined && { _id: { $lt: before } }) })
      .sort({ _id: -1 })
      .limit(limit)
      .lean()) as ErasureDocument[];
    return documents.map(toErasure);
  }
}

function toErasure(document: ErasureDocument): Erasure {
  const { events, deliveries, open_deliveries } = document;
  return {
    id: document._id,
    status: document.status,
    open: document.open,
    requested_at: document.requested_at.toISOString(),
    requested_by: document.requested_by,
    ...(document.erased_at && { erased_at: document.erased_at.toISOString() }),
    ...(document.completed_at && { completed_at: document.completed_at.toISOString() }),
    ...(document.reapplied_at && { reapplied_at: document.reapplied_at.toISOString() }),
    key: { id: document.key_id, created_at: document.key_created_at.toISOString() },
    covered: { events, deliveries, open_deliveries },
    cancelled_deliveries: document.cancelled_deliveries,
  };
}

function dateOf(time: string | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time);
}
