import {
  commitTo,
  type DataKey,
  keepPlain,
  keyIdOf,
  openText,
  SealedTextError,
  saltOf,
  sealText,
} from './data-key.js';

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

/** Purpose of the salt of a payload's commitment. */
const COMMITMENT = 'commitment';

/** A sealed payload, and the commitment to it. */
export interface CommittedPayload {
  sealed: string;
  commitment: string;
}

/** The stored data keys. A process may remember one for as long as {@link Timings} say. */
export interface DataKeys {
  /**
   * The key that new payloads are sealed with; made at the first call.
   *
   * @param subject token; absent: the account's own
   */
  obtain(accountId: string, subject?: string): Promise<DataKey>;
  /** A key of an account; `undefined` if it was erased. */
  find(accountId: string, keyId: string): Promise<DataKey | undefined>;
}

/** Seals the payloads of events, and opens them as long as their key has not been erased. */
export type PayloadSealer = ReturnType<typeof createPayloadSealer>;

/** @param encrypts whether payloads are encrypted, or only salted: HOOKLINE_PAYLOAD_KEYS is set */
export function createPayloadSealer(keys: DataKeys, encrypts: boolean) {
  /** `undefined` if it was erased. */
  const keyOf = ({ accountId }: PayloadContext, sealed: string) => keys.find(accountId, keyIdOf(sealed));
  // Without encryption nobody can be erased, so the account's key does.
  const newKeyOf = ({ accountId, subject }: Omit<SealContext, 'eventId'>) =>
    keys.obtain(accountId, encrypts ? subject : undefined);
  const sealWith = (key: DataKey, context: PayloadContext, text: string) =>
    encrypts ? sealText(key, contextOf(context), text) : keepPlain(key, text);
  const commitmentOf = (key: DataKey, context: PayloadContext, payload: string) =>
    commitTo(saltOf(key, contextOf(context), COMMITMENT), payload);
  return {
    encrypts,
    /**
     * @returns a text that names its key, and opens with the same account and event alone. Not encrypted without
     * HOOKLINE_PAYLOAD_KEYS
     */
    async seal(context: SealContext, text: string): Promise<string> {
      return sealWith(await newKeyOf(context), context, text);
    },
    /** Seals a payload, and commits to it. */
    async sealCommitted(context: SealContext, payload: string): Promise<CommittedPayload> {
      const key = await newKeyOf(context);
      return { sealed: sealWith(key, context, payload), commitment: commitmentOf(key, context, payload) };
    },
    /** Seals another text of the same event, with the same key; `undefined` if the key was erased. */
    async sealBeside(context: PayloadContext, sealed: string, text: string): Promise<string | undefined> {
      const key = await keyOf(context, sealed);
      return key && sealWith(key, context, text);
    },
    /**
     * @returns `undefined` if the key was erased
     *
     * @throws SealedTextError if the text was altered, or is of another event
     */
    async open(context: PayloadContext, sealed: string): Promise<string | undefined> {
      const key = await keyOf(context, sealed);
      return key && openText(key, contextOf(context), sealed);
    },
    /**
     * As `open`, of a payload: nothing but the commitment shows that one which is not encrypted was replaced.
     *
     * @throws SealedTextError also if it is another one than was committed to
     */
    async openCommitted(
      context: PayloadContext,
      { sealed, commitment }: CommittedPayload,
    ): Promise<string | undefined> {
      const key = await keyOf(context, sealed);
      if (!key) return undefined;
      const payload = openText(key, contextOf(context), sealed);
      if (commitmentOf(key, context, payload) !== commitment)
        throw new SealedTextError(`the payload of ${context.eventId} is another one than it commits to`);
      return payload;
    },
    /**
     * The salt of a commitment ({@link commitTo}) to something of an event; `undefined` if the key was erased.
     *
     * @param sealed its payload, or what was sealed beside it @param purpose absent: to the payload
     */
    async salt(context: PayloadContext, sealed: string, purpose = COMMITMENT): Promise<Buffer | undefined> {
      const key = await keyOf(context, sealed);
      return key && saltOf(key, contextOf(context), purpose);
    },
    /** Hashes a text so that nobody can test a guess of it without the key that `seal` would use. Hexadecimal. */
    async hash(
      context: Omit<SealContext, 'eventId'>,
      purpose: string,
      text: string | Buffer,
    ): Promise<string> {
      return commitTo(saltOf(await newKeyOf(context), context.accountId, purpose), text);
    },
  };
}

function contextOf({ accountId, eventId }: PayloadContext): string {
  return `${accountId}:${eventId}`;
}
