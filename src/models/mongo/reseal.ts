import type { Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';

/** A document with something that a {@link SecretBox} has sealed. */
interface SealedDocument {
  _id: string;
  sealed: string;
}

/**
 * Seals again, with the newest key, what an older key has sealed.
 *
 * @param contextOf what a document's text belongs to; `undefined` for one that is to stay as it is
 * @returns how many were sealed again
 */
export async function resealEach<D extends SealedDocument>(
  model: Model<D>,
  box: SecretBox,
  contextOf: (document: D) => string | undefined,
): Promise<number> {
  const sealing = model as unknown as Model<SealedDocument>;
  let resealed = 0;
  for await (const document of model.find().lean<D[]>().cursor()) {
    const { _id, sealed } = document;
    const context = contextOf(document);
    if (context === undefined || !box.isOutdated(sealed)) continue;
    const again = box.seal(box.open(sealed, context), context);
    const { modifiedCount } = await sealing.updateOne({ _id, sealed }, { $set: { sealed: again } });
    resealed += modifiedCount;
  }
  return resealed;
}

/**
 * A box that a process may do without: the caller that needs it asks for it.
 *
 * @param otherwise what is wrong where there is none
 */
export function boxOr(box: SecretBox | undefined, otherwise: string): () => SecretBox {
  return () => {
    if (!box) throw new Error(otherwise);
    return box;
  };
}
