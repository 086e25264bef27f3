/** Sends a scheduled event if it is due. @returns how long to wait otherwise, or that there is none */
export type ScheduledSender = (key: {
  account_id: string;
  id: string;
}) => Promise<{ is_missing?: true; wait_ms?: number }>;
