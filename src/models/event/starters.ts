import { randomUUID } from 'node:crypto';
import type { SeenStarter, Starters } from '../../domain/delivery/stored-event.js';
import { collection, may, must, repositoryOf } from '../mongo/collection.js';

const starters = collection('starters', {
  _id: must(String),
  beats: must(Number),
  since: must(Date),
  settled: must(Date),
  /** Made when it was first seen, or first again after it was forgotten. */
  life: must(String),
  is_early: may<true>(Boolean),
});

/** The processes that start executions. */
export class StarterRepository extends repositoryOf(starters) implements Starters {
  async beat({ id, since, settled, isEarly }: Omit<SeenStarter, 'beats'>): Promise<string> {
    const said = {
      since: new Date(since),
      settled: new Date(settled),
      ...(isEarly && { is_early: true as const }),
    };
    const { life } = await this.model
      .findOneAndUpdate(
        { _id: id },
        { $inc: { beats: 1 }, $set: said, $setOnInsert: { life: randomUUID() } },
        { upsert: true, returnDocument: 'after' },
      )
      .lean();
    return life;
  }

  async all(): Promise<SeenStarter[]> {
    const found = await this.model.find().lean();
    return found.map(({ _id: id, beats, since, settled, is_early }) => ({
      ...{ id, beats, since: since.getTime(), settled: settled.getTime(), isEarly: is_early === true },
    }));
  }

  async forget({ id, beats }: Pick<SeenStarter, 'id'> & Partial<SeenStarter>): Promise<void> {
    await this.model.deleteOne({ _id: id, ...(beats !== undefined && { beats }) });
  }
}
