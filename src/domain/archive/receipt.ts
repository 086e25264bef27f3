/** The answer header with which a subscriber may sign what it received. It is kept with the attempt, and so in what its record commits to. */
export const RECEIPT_HEADER = 'webhook-receipt';
