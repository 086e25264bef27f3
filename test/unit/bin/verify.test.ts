import { rejects } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify, verifyComplete } from '../../../src/bin/verify.js';

describe('hookline verify', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-verify-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('says what the server responded, if its error was saved in place of a certificate', async () => {
    const file = join(folder, 'certificate.json');
    const detail = 'The delivery dlv_1 is not in the log yet.';
    await writeFile(file, JSON.stringify({ type: 'about:blank', title: 'Not there', status: 404, detail }));
    for (const read of [verify(file, {}), verifyComplete([file], {})])
      await rejects(read, { message: `${file} has no certificate, but an error of the server: ${detail}` });
  });

  it('refuses everything else that is no certificate', async () => {
    const file = join(folder, 'other.json');
    for (const [text, message] of [
      ['[]', /the certificate is not valid/],
      ['{', /the certificate is not valid JSON/],
    ] as const) {
      await writeFile(file, text);
      await rejects(verify(file, {}), { message });
    }
  });
});
