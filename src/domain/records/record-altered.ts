/** A stored delivery, or event, is not the one that was recorded: nothing of it is shown. */
export class RecordAlteredError extends Error {
  override readonly name = 'RecordAlteredError';
  /** Id of the delivery, event or change. */
  readonly id: string;
  /** Difference: the end of a sentence that begins with the id, such as `differs in /status from its record`. */
  readonly how: string;

  constructor(id: string, how: string, options?: ErrorOptions) {
    super(`${id} ${how}`, options);
    this.id = id;
    this.how = how;
  }
}
