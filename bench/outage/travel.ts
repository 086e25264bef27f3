/** How long what a bystander sends took, milliseconds, in the order in which it was sent. */
export interface Travel {
  /** From an event's post to its arrival. */
  event: number[];
  /**
   * The floor: the start of a workflow that nobody runs, which is less than any event needs, asked of Temporal in the
   * same seconds.
   */
  bareStart: number[];
}

export const EVENTS_PER_SECOND = 20;
/** Few, so that they are no load of their own. */
export const BARE_STARTS_PER_SECOND = 10;
/** How long a bystander sends before what it sends counts, seconds: its connections are made by then. */
export const LEAD_SECONDS = 0.5;
