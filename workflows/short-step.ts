/**
 * How long a step may take that is a few reads and writes. Its process may die with it, and Temporal then gives it to
 * another one no sooner than after this, so what the step is part of is held up for so long. A step that takes longer
 * by its nature sends heartbeats.
 */
export const SHORT_STEP = '15s';
