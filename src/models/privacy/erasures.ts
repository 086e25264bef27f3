import type { Connection } from 'mongoose';
import { type Origin, systemOrigin } from '../../domain/change/change.js';
import type {
  Erasure,
  ErasurePlan,
  ErasureScope,
  ErasureStatus,
  OpenRule,
} from '../../domain/privacy/erasure.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { recordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { collection, type DocumentIn, may, must, withoutNulls } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';
import { inOrder } from '../mongo/in-order.js';

const erasures = collection(
  'erasures',
  {
    _id: must(String),
    account_id: must(String),
    status: must<ErasureStatus>(String),
    open: must<OpenRule>(String),
    requested_at: must(Date),
    requested_by: must(String),
    erased_at: may(Date),
    completed_at: may(Date),
    reapplied_at: may(Date),
    key_id: must(String),
    key_created_at: must(Date),
    events: must(Number),
    deliveries: must(Number),
    open_deliveries: must(Number),
    cancelled_deliveries: must(Number),
    ...recordedFields,
  },
  { indexes: [{ account_id: 1, _id: 1 }] },
);
type ErasureDocument = DocumentIn<typeof erasures>;

/** Erasures of subjects: certificates, which are kept. */
export class ErasureRepository {
  private readonly erasures: Recorded<ErasureDocument>;

  constructor(connection: Connection, changes: ChangeRepository) {
    this.erasures = new Recorded(erasures(connection), changes, { kind: 'erasure', show: toErasure });
  }

  /** Records an erasure that begins. A repeat records nothing. */
  async begin(plan: ErasurePlan, covered: ErasureScope, origin: Origin): Promise<void> {
    const { account_id, erasure_id: id, open, requested_at, key_id, key_created_at } = plan;
    const key = { id: key_id, created_at: key_created_at };
    const asked = { id, status: 'waiting' as const, open, requested_at, requested_by: origin.actor.id };
    await this.restore(account_id, { ...asked, key, covered, cancelled_deliveries: 0 }, origin);
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
   * Records that a key is deleted again which a restored backup has brought back, and the erasure itself, if the backup
   * is older than that.
   *
   * @param erasure as it was recorded before
   */
  async reapply(accountId: string, erasure: Erasure, origin: Origin): Promise<void> {
    const reapplied = { status: 'erased', completed_at: null, reapplied_at: sharedDate() } as const;
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
    const times = {
      erased_at: dateOf(erasure.erased_at),
      completed_at: dateOf(erasure.completed_at),
      reapplied_at: dateOf(erasure.reapplied_at),
      ...changed,
    };
    const restored = {
      _id: erasure.id,
      account_id: accountId,
      status: erasure.status,
      open: erasure.open,
      requested_at: new Date(erasure.requested_at),
      requested_by: erasure.requested_by,
      ...withoutNulls(times),
      key_id: key.id,
      key_created_at: new Date(key.created_at),
      ...covered,
      cancelled_deliveries: erasure.cancelled_deliveries,
    };
    return wasMade(this.erasures.create(restored, origin));
  }

  /** The erasures of all accounts, oldest first. */
  async *all(): AsyncIterable<{ accountId: string; erasure: Erasure }> {
    for await (const some of inOrder((_id) => this.erasures.find({ _id })))
      for (const document of some) yield { accountId: document.account_id, erasure: toErasure(document) };
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
