import type { SeenStarter, Starters } from '../../domain/delivery/stored-event.js';
import { collection, may, must, repositoryOf } from '../mongo/collection.js';

const starters = collection('starters', {
  _id: must(String),
  beats: must(Number),
  since: must(Date),
  is_early: may<true>(Boolean),
});

/** The processes that start executions. */
export class StarterRepository extends repositoryOf(starters) implements Starters {
  async beat(id: string, since: number, isEarly: boolean): Promise<void> {
    await this.model.updateOne(
      { _id: id },
      { $inc: { beats: 1 }, $set: { since: new Date(since), ...(isEarly && { is_early: true }) } },
      { upsert: true },
    );
  }

  async all(): Promise<SeenStarter[]> {
    const found = await this.model.find().lean();
    return found.map(({ _id: id, beats, since, is_early }) => ({
      ...{ id, beats, since: since.getTime(), isEarly: is_early === true },
    }));
  }

  async forget({ id, beats }: Pick<SeenStarter, 'id'> & Partial<SeenStarter>): Promise<void> {
    await this.model.deleteOne({ _id: id, ...(beats !== undefined && { beats }) });
  }
}
