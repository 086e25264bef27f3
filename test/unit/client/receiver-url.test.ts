import { equal, throws } from 'node:assert/strict';
import { receiverUrl } from '../../../src/bin/client/listen/listen.js';

describe('where a listener forwards deliveries to', () => {
  for (const [given, expected] of [
    ['http://localhost:3000/webhooks', 'http://localhost:3000/webhooks'],
    ['https://localhost', 'https://localhost/'],
    ['localhost:3000', 'http://localhost:3000/'],
    ['localhost:3000/hooks?a=1', 'http://localhost:3000/hooks?a=1'],
    ['127.0.0.1', 'http://127.0.0.1/'],
    ['[::1]:3000/x', 'http://[::1]:3000/x'],
  ] as const)
    it(`is ${expected} for ${given}`, () => equal(receiverUrl(given), expected));

  for (const given of ['', 'ftp://localhost', 'file:///etc/passwd', 'http://', 'a b', 'localhost:99999'])
    it(`is not "${given}"`, () =>
      throws(() => receiverUrl(given), /--forward must be the URL of your receiver/));
});
