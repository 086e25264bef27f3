/** Something that one of rows, events, segments and log has otherwise than another. */
export interface Difference {
  /** Id of the delivery, event or change; the name of anything without an id, such as a leaf. */
  id: string;
  /** The end of a sentence that begins with the id. */
  what: string;
}
