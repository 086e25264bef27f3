import { randomUUID } from 'node:crypto';
import { toRanges } from './ranges.js';
import { type Blocks, SEQUENCE } from './sequence.js';

/** A block that this process uses. */
interface HeldBlock {
  first: number;
  last: number;
  next: number;
  holder: string;
  usedAt: number;
  /** Numbers that were taken and not used. */
  free: number[];
  /** Numbers of which it is not known whether an event has them. */
  unsure: number[];
  /** Numbers that are given to an event right now. */
  inHand: Set<number>;
}

/** A number for one event. Its taker reports whether it was used. */
export interface TakenNumber {
  number: number;
  /** An event has it. */
  used(): void;
  /** No event has it, nor will have. */
  unused(): void;
  /** Whether an event has it is not known. */
  unsure(): void;
}

/**
 * Numbers the events that this process accepts: each account has a sequence of its own. A block of numbers is reserved
 * with one write; so the numbers of several processes interleave, and their order is not that of acceptance.
 */
export class NumberSource {
  private readonly blocks: Blocks;
  private readonly now: () => number;
  private readonly held = new Map<string, HeldBlock>();
  private readonly reserving = new Map<string, Promise<HeldBlock>>();
  private readonly sizes = new Map<string, number>();
  private holder: { id: string; until: number; wallUntil: number } | undefined;
  /** Blocks that are used up, or whose lease ran out: their last numbers may be in hand yet. */
  private readonly retired = new Set<{ accountId: string; block: HeldBlock }>();

  /** @param now milliseconds on a clock that only goes forward, also while the process is stopped */
  constructor(blocks: Blocks, now: () => number = () => performance.now()) {
    this.blocks = blocks;
    this.now = now;
  }

  /** A number of an account's sequence that nobody else has. */
  async take(accountId: string): Promise<TakenNumber> {
    for (;;) {
      const block = this.usable(accountId) ?? (await this.nextBlock(accountId));
      // Others that waited for the same block may have used it up.
      const number = block.free.pop() ?? (block.next <= block.last ? block.next++ : undefined);
      if (number === undefined || !this.isHolding(block)) continue;
      block.usedAt = this.now();
      block.inHand.add(number);
      const settle = (list?: number[]) => () => {
        if (block.inHand.delete(number)) list?.push(number);
      };
      return {
        number,
        used: settle(),
        unused: settle(block.free),
        unsure: settle(block.unsure),
      };
    }
  }

  /** Says that this process is there, if it has blocks, and gives back those that are not used any more. */
  async renew(): Promise<void> {
    if (this.held.size > 0) await this.hold();
    const idleSince = this.now() - SEQUENCE.idleBlockMs;
    for (const [accountId, block] of this.held)
      if (block.usedAt < idleSince && block.inHand.size === 0) this.retire(accountId, block);
    for (const entry of this.retired) if (entry.block.inHand.size === 0) await this.giveBack(entry);
  }

  /**
   * Gives everything back: what is left of the blocks is void. Numbers that cannot be given back are found once the
   * process is known to be dead.
   */
  async stop(): Promise<void> {
    for (const [accountId, block] of this.held) this.retire(accountId, block);
    for (const entry of this.retired) await this.giveBack(entry);
  }

  private usable(accountId: string): HeldBlock | undefined {
    const block = this.held.get(accountId);
    if (!block || !this.isHolding(block)) return undefined;
    return block.free.length > 0 || block.next <= block.last ? block : undefined;
  }

  private isHolding({ holder }: HeldBlock): boolean {
    return this.alive?.id === holder;
  }

  /** This process, as long as its lease has not run out. */
  private get alive() {
    const own = this.holder;
    return own && this.now() < own.until && Date.now() < own.wallUntil ? own : undefined;
  }

  private nextBlock(accountId: string): Promise<HeldBlock> {
    const reserving = this.reserving.get(accountId) ?? this.reserve(accountId);
    this.reserving.set(accountId, reserving);
    const done = () => {
      if (this.reserving.get(accountId) === reserving) this.reserving.delete(accountId);
    };
    reserving.then(done, done);
    return reserving;
  }

  private async reserve(accountId: string): Promise<HeldBlock> {
    const before = this.held.get(accountId);
    const { id: holder } = await this.hold();
    const size = this.sizes.get(accountId) ?? SEQUENCE.firstBlock;
    const { first, last } = await this.blocks.reserve(accountId, holder, size);
    this.sizes.set(accountId, Math.min(2 * size, SEQUENCE.largestBlock));
    const block: HeldBlock = {
      ...{ first, last, next: first, holder, usedAt: this.now() },
      ...{ free: [], unsure: [], inHand: new Set<number>() },
    };
    this.held.set(accountId, block);
    if (before) this.retired.add({ accountId, block: before });
    return block;
  }

  /** Registers this process, or extends its lease. */
  private async hold(): Promise<{ id: string }> {
    const { holder: own, alive } = this;
    const id = alive?.id ?? randomUUID();
    // Counted from before the write.
    const [until, wallUntil] = [this.now() + SEQUENCE.holderLeaseMs, Date.now() + SEQUENCE.holderLeaseMs];
    if (alive && until - alive.until < SEQUENCE.holderLeaseMs / 20) return alive;
    await this.blocks.hold(id, new Date(wallUntil));
    if (this.holder === own || !this.holder) this.holder = { id, until, wallUntil };
    return this.holder ?? { id };
  }

  private retire(accountId: string, block: HeldBlock): void {
    this.held.delete(accountId);
    this.sizes.delete(accountId);
    this.retired.add({ accountId, block });
  }

  private async giveBack(entry: { accountId: string; block: HeldBlock }): Promise<void> {
    const { first, last, next, holder, free, unsure, inHand } = entry.block;
    const left = [...toRanges(free), ...(next <= last ? [{ first: next, last }] : [])];
    const open = [...unsure, ...inHand];
    const range = open.length > 0 ? { first: Math.min(...open), last: Math.max(...open) } : undefined;
    await this.blocks.release(entry.accountId, { first, last, holder }, left, range);
    this.retired.delete(entry);
  }
}
