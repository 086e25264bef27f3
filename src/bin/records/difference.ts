/** Something that one of rows, events, segments and log has otherwise than another. */
export interface Difference {
  /** Of the delivery, event or change; of what has none, such as a leaf, its name. */
  id: string;
  /** The end of a sentence that begins with the id. */
  what: string;
}
