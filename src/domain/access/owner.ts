/** Account that work is done for. */
export interface Owner {
  account: string;
  /** The platform that the account belongs to; the account itself if it belongs to none. */
  platform: string;
}
