import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import type { ApiClient } from '../api-client.js';
import { runHere } from '../programs/command.js';
import type { TestSystem } from '../system.js';
import { until } from '../until.js';
import { recorded } from './records.js';

/** A document as MongoDB has it. */
export interface StoredDocument {
  _id: string;
  [field: string]: unknown;
}

/** Rows of deliveries and their segments, as somebody sees them who has MongoDB alone. */
export class StoredRows {
  readonly rows;
  readonly segments;

  constructor(connection: Connection) {
    this.rows = connection.collection<StoredDocument>('deliveries');
    this.segments = connection.collection<StoredDocument>('segments');
  }

  readonly copyOf = async (id: string): Promise<StoredDocument> =>
    (await this.rows.findOne({ _id: id })) ?? assert.fail(id);

  /** Puts a row there as it was. */
  readonly restore = (row: StoredDocument) => this.rows.replaceOne({ _id: row._id }, row, { upsert: true });

  /** The segment that a row names; `null` if it is not there. */
  readonly segmentOf = (row: StoredDocument): Promise<StoredDocument | null> =>
    this.segments.findOne({ _id: String(row['segment']) });

  /** Number in the log of the record of a row, by its segment; below 0 if it has none. */
  readonly leafOf = async (row: StoredDocument): Promise<number> => {
    const segment = (await this.segmentOf(row)) ?? {};
    const { records = [], first = -1 } = segment as { records?: string[]; first?: number };
    return first < 0 ? -1 : first + records.indexOf(`${row._id}/${String(row['revision'])}`);
  };

  /** Sends a delivery again, until the log has its second record. @returns its row */
  async sendAgain(system: TestSystem, client: ApiClient, id: string): Promise<StoredDocument> {
    assert.equal((await client.request('POST', `/v18.0/deliveries/${id}/resend`)).status, 202);
    const closed = await until(
      () => this.copyOf(id),
      ({ revision, record }) => revision === 2 && record !== undefined,
    );
    await recorded(system, client, [id]);
    return closed;
  }
}

/** Output of `hookline records verify`: the differences by id, and the counts. */
export async function verifyRecords({ environment }: Pick<TestSystem, 'environment'>, ...args: string[]) {
  const run = runHere('records', environment, ['verify', '--json', ...args]).then(
    (stdout) => ({ code: 0, stdout, stderr: '' }),
    (ended: { code: number; stdout: string; stderr: string }) => ended,
  );
  const { code, stdout, stderr } = await run;
  assert.ok(stdout !== '', stderr);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line));
  const result = lines.pop();
  assert.equal(code === 0, result.differences === 0, stdout);
  assert.equal(lines.length, result.differences);
  const found: Record<string, string> = Object.fromEntries(
    lines.map(({ id, what }: { id: string; what: string }) => [id, what]),
  );
  return { found, result };
}
