/** What `go` prints while it builds, as progress: its text says what is done, and what there is to do at most. */
export class GoProgress {
  readonly #modules: number;
  #fetched = 0;
  #compiled = 0;
  #packages: number | undefined;
  #heardAt = Date.now();
  readonly #complaints: string[] = [];

  /** @param modules how many modules may have to be fetched */
  constructor(modules: number) {
    this.#modules = modules;
  }

  /** Takes a line of either output. */
  read(line: string): void {
    this.#heardAt = Date.now();
    const packages = /^packages: (\d+)$/.exec(line)?.[1];
    if (packages !== undefined) this.#packages = Number(packages);
    else if (line.startsWith('go: downloading ')) this.#fetched++;
    else if (/^\S+$/.test(line))
      this.#compiled++; // with -v, the import path of each package
    else if (line.trim() !== '') this.#complaints.push(line.trim());
  }

  /** How long nothing has been printed. */
  silentMs(): number {
    return Date.now() - this.#heardAt;
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
    return `${this.#compiled}${whole} packages compiled`;
  }
}
