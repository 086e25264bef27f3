import { commitTo, type DataKey, keepPlain, keyIdOf, openText, saltOf, sealText } from './data-key.js';

/** The event that a payload belongs to. */
export interface PayloadContext {
  accountId: string;
  eventId: string;
}

/** A payload that is to be sealed. */
export interface SealContext extends PayloadContext {
  /** Token of the person that it is about (see {@link subjectToken}); absent: the account's own key seals it. */
  subject?: string | undefined;
}

/** The stored data keys. A process may remember one for as long as {@link Timings} say. */
export interface DataKeys {
  /** The key that new payloads are sealed with; made at the first call. @param subject token; absent: the account's own */
  obtain(accountId: string, subject?: string): Promise<DataKey>;
  /** A key of an account; `undefined` if it was erased. */
  find(accountId: string, keyId: string): Promise<DataKey | undefined>;
}

/** Seals the payloads of events, and opens them as long as their key has not been erased. */
export interface PayloadSealer {
  /** Whether payloads are encrypted: HOOKLINE_PAYLOAD_KEYS is set. */
  readonly encrypts: boolean;
  /** @returns a text that names its key, and opens with the same account and event alone. Not encrypted without HOOKLINE_PAYLOAD_KEYS */
  seal(context: SealContext, text: string): Promise<string>;
  /** Seals another text of the same event, with the same key; `undefined` if the key was erased. */
  sealBeside(context: PayloadContext, sealed: string, text: string): Promise<string | undefined>;
  /** @returns `undefined` if the key was erased @throws SealedTextError if the text was altered, or is of another event */
  open(context: PayloadContext, sealed: string): Promise<string | undefined>;
  /**
   * The salt of a commitment ({@link commitTo}) to something of an event; `undefined` if the key was erased.
   *
   * @param sealed its payload, or what was sealed beside it @param purpose absent: to the payload
   */
  salt(context: PayloadContext, sealed: string, purpose?: string): Promise<Buffer | undefined>;
  /** Hashes a text so that nobody can test a guess of it without the key that `seal` would use. Hexadecimal. */
  hash(context: Omit<SealContext, 'eventId'>, purpose: string, text: string | Buffer): Promise<string>;
}

/** What is known of a sealed payload without opening it. */
export interface SealedPayload {
  /** {@link commitTo} of the payload with the event's salt. */
  commitment: string;
  /** Size of the payload. */
  bytes: number;
}

/** @param encrypts whether payloads are encrypted, or only salted */
export function createPayloadSealer(keys: DataKeys, encrypts: boolean): PayloadSealer {
  return {
    encrypts,
    async seal({ accountId, eventId, subject }, text) {
      // Without encryption nobody can be erased, so the account's key does.
      const key = await keys.obtain(accountId, encrypts ? subject : undefined);
      return encrypts ? sealText(key, contextOf({ accountId, eventId }), text) : keepPlain(key, text);
    },
    async sealBeside(context, sealed, text) {
      const key = await keys.find(context.accountId, keyIdOf(sealed));
      if (!key) return undefined;
      return encrypts ? sealText(key, contextOf(context), text) : keepPlain(key, text);
    },
    async open(context, sealed) {
      const key = await keys.find(context.accountId, keyIdOf(sealed));
      return key && openText(key, contextOf(context), sealed);
    },
    async salt(context, sealed, purpose = 'commitment') {
      const key = await keys.find(context.accountId, keyIdOf(sealed));
      return key && saltOf(key, contextOf(context), purpose);
    },
    async hash({ accountId, subject }, purpose, text) {
      const key = await keys.obtain(accountId, encrypts ? subject : undefined);
      return commitTo(saltOf(key, accountId, purpose), text);
    },
  };
}

function contextOf({ accountId, eventId }: PayloadContext): string {
  return `${accountId}:${eventId}`;
}
