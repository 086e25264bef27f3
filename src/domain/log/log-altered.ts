/** The stored log is not the one that was signed: nothing is signed or proven until somebody has looked at it. */
export class LogAlteredError extends Error {
  constructor(detail: string) {
    super(`${detail}: the database was altered`);
    this.name = 'LogAlteredError';
  }
}
