/** The part of the sources that must have been compiled before the time that is left is told. */
const LEAST_PART = 0.05;

/** Progress of `go` while it builds: its text says what is done, and what there is to do at most. */
export class GoProgress {
  readonly #modules: number;
  readonly #now: () => number;
  #fetched = 0;
  #compiled = 0;
  #packages: number | undefined;
  /** Bytes of the sources of each package, where they are announced, and of all of them. */
  readonly #sizes = new Map<string, number>();
  #size = 0;
  /** Bytes of compiled packages, and half of the package being compiled. */
  #compiledSize = 0;
  #latestHalf = 0;
  #compilingSince = 0;
  #heardAt: number;
  readonly #complaints: string[] = [];

  /**
   * @param modules how many modules may have to be fetched
   * @param now a clock, milliseconds
   */
  constructor(modules: number, now: () => number = Date.now) {
    this.#modules = modules;
    this.#now = now;
    this.#heardAt = now();
  }

  /** Takes a line of either output. */
  read(line: string): void {
    this.#heardAt = this.#now();
    const packages = /^packages: (\d+)$/.exec(line)?.[1];
    const [, name = '', size] = /^source: (\S+) (\d+)$/.exec(line) ?? [];
    if (packages !== undefined) this.#packages = Number(packages);
    else if (size !== undefined) this.#announce(name, Number(size));
    else if (line.startsWith('go: downloading ')) this.#fetched++;
    else if (/^\S+$/.test(line))
      this.#compile(line); // with -v, the import path of each package
    else if (line.trim() !== '') this.#complaints.push(line.trim());
  }

  #announce(name: string, size: number): void {
    this.#sizes.set(name, size);
    this.#size += size;
  }

  #compile(name: string): void {
    if (this.#compiled++ === 0) this.#compilingSince = this.#now();
    this.#compiledSize += this.#latestHalf;
    this.#latestHalf = (this.#sizes.get(name) ?? 0) / 2;
    this.#compiledSize += this.#latestHalf;
  }

  /**
   * How long it may still take, milliseconds, if what is left is compiled as fast for its size as what came first.
   * Undefined where sizes are not announced, or too little is compiled to tell.
   */
  leftMs(): number | undefined {
    if (this.#compiledSize === 0 || this.#compiledSize < this.#size * LEAST_PART) return undefined;
    return ((this.#now() - this.#compilingSince) * (this.#size - this.#compiledSize)) / this.#compiledSize;
  }

  /** How long nothing has been printed. */
  silentMs(): number {
    return this.#now() - this.#heardAt;
  }

  /** The last two lines that are no progress; empty when there were none. */
  complaint(): string {
    return this.#complaints.slice(-2).join(' ');
  }

  /** Go's caches hold some of it already, which is neither fetched nor compiled: so the wholes are upper limits. */
  toString(): string {
    if (this.#packages === undefined && this.#compiled === 0)
      return `${this.#fetched} of at most ${this.#modules} modules fetched`;
    const whole = this.#packages === undefined ? '' : ` of at most ${this.#packages}`;
    const leftMs = this.leftMs();
    const left = leftMs === undefined ? '' : `, about ${Math.ceil(leftMs / 5_000) * 5} s left`;
    return `${this.#compiled}${whole} packages compiled${left}`;
  }
}
