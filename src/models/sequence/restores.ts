import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { idTime } from '../../domain/basics/id-time.js';
import type { Restore } from '../../domain/sequence/lost-numbers.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { events } from '../event/event-document.js';
import { collection, type DocumentIn, must, repositoryOf } from '../mongo/collection.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { Tags, textOf } from '../mongo/tags.js';

/** Nothing of an installation is older: where nothing else says of when a copy is. */
const BEFORE_ALL = new Date('2026-01-01');

/** Each time that this database was found older than what stands outside of it. They are kept for ever. */
const restores = collection('sequence_restores', {
  /** The sign of the restore: processes that see the same sign note it once. */
  _id: must(String),
  at: must(Date),
  since: must(Date),
  why: must(String),
  /** Tag of all other fields. */
  tag: must(String),
});
type RestoreDocument = DocumentIn<typeof restores>;

/** Restores of this database, as far as they were noticed. */
export class RestoreRepository extends repositoryOf(restores) {
  private readonly events: ReturnType<typeof events>;
  private readonly tags: Tags<RestoreDocument>;

  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.events = events(connection);
    this.tags = new Tags(box, 'restore', restores, contentOfRestore);
  }

  /** Notes one, once. */
  async note(id: string, why: string): Promise<void> {
    const [newest] = await this.events.find({}, { _id: 1 }).sort({ _id: -1 }).limit(1).lean();
    const since = newest ? new Date(idTime(newest._id)) : BEFORE_ALL;
    const document = { _id: id, at: sharedDate(), since, why };
    await insertMissing(this.model, [{ ...document, tag: this.tags.tag(document) }]);
  }

  /** Those that were noted, oldest first: what somebody has written is none. */
  async all(): Promise<Restore[]> {
    const found = await this.model.find().sort({ at: 1 }).lean();
    const believed = found.flatMap((stored) => this.tags.believed(stored) ?? []);
    return believed.map(({ _id: id, at, since, why }) => ({ id, at, since, why }));
  }

  /** Those that are not as they were noted, and how. */
  async altered(): Promise<{ id: string; wrong: string }[]> {
    const found = await this.model.find().lean();
    return found.flatMap((document) => {
      const wrong = this.tags.whatIsWrong(document);
      return wrong === undefined ? [] : [{ id: document._id, wrong }];
    });
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.model);
  }
}

export function contentOfRestore({ _id, at, since, why }: Omit<RestoreDocument, 'tag'>): string {
  return textOf([_id, at, since, why]);
}
