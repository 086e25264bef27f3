/** What stops the parts of a process, in the opposite order of their start. */
export class Stops {
  private readonly stops: (() => unknown)[] = [];

  add(stop: () => unknown): void {
    this.stops.push(stop);
  }

  /** Stops everything, one part after the other. */
  async run(): Promise<void> {
    for (const stop of this.stops.splice(0).reverse()) await stop();
  }
}
