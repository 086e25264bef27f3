import type { Client } from '@temporalio/client';
import type { ArchiveReads } from '../../../domain/archive/archived.js';
import { isClosed } from '../../../domain/delivery/delivery.js';
import { payloadBytes } from '../../../domain/ledger/sealed-event.js';
import type { PayloadSealer } from '../../../domain/privacy/payload-sealer.js';
import type { DeliverySummary } from '../delivery-view.js';
import { Opener } from '../privacy/opener.js';
import { LastAttempts } from './last-attempt.js';
import { StartedFacts } from './started-facts.js';

/** What lists of deliveries show only if they are asked to, because it is read for each row. */
export const ROW_EXTRAS = ['last_attempt', 'business_keys'] as const;

/** Business keys are not read of larger payloads, bytes: a list would parse a hundred of them. */
export const MAX_KEYED_PAYLOAD_BYTES = 65_536;

export type RowExtra = (typeof ROW_EXTRAS)[number];

/** A row of a list with what it was asked for besides. */
export type ExtendedRow<T extends DeliverySummary = DeliverySummary> = T & {
  /** Of an open one, how many attempts it has at most. */
  max_attempts?: number;
  /** The payload of its event, of which business keys are read; absent if it cannot be read any more, or is too large. */
  payload?: string;
};

/** Reads what lists of deliveries are asked for besides. It remembers much of it, so a process has one. */
export class RowExtras {
  private readonly lastAttempts = new LastAttempts();
  private readonly started: StartedFacts;
  private readonly opener: Opener;

  constructor(client: Client, sealer: PayloadSealer, archive: ArchiveReads) {
    this.started = new StartedFacts(client, archive);
    this.opener = new Opener(sealer);
  }

  /** What tells the latest attempts of a list, if it is asked for them. */
  attemptsIn(extras: readonly RowExtra[]): LastAttempts | undefined {
    return extras.includes('last_attempt') ? this.lastAttempts : undefined;
  }

  /** Rows of a page with the rest of what was asked for. @param accountOf whose each is */
  complete<T extends DeliverySummary>(
    rows: readonly T[],
    extras: readonly RowExtra[],
    accountOf: (row: T) => string,
  ): Promise<ExtendedRow<T>[]> {
    return Promise.all(
      rows.map(async (row) => {
        const [max_attempts, payload] = await Promise.all([
          extras.includes('last_attempt') && !isClosed(row.status)
            ? this.started.maxAttempts(row)
            : undefined,
          extras.includes('business_keys') ? this.payload(accountOf(row), row) : undefined,
        ]);
        return {
          ...row,
          ...(max_attempts !== undefined && { max_attempts }),
          ...(payload !== undefined && { payload }),
        };
      }),
    );
  }

  private async payload(accountId: string, row: DeliverySummary): Promise<string | undefined> {
    const event = await this.started.event(accountId, row);
    if (!event || payloadBytes(event) > MAX_KEYED_PAYLOAD_BYTES) return undefined;
    return this.opener.payload(event);
  }
}
