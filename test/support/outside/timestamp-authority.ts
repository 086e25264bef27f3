import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Handler } from '../receiver.js';

const run = promisify(execFile);

const CONFIGURATION = `
[tsa]
default_tsa = service
[service]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
tsa_name = yes
ess_cert_id_alg = sha256
`;
const PURPOSES = {
  'time stamps': 'extendedKeyUsage=critical,timeStamping',
  servers: 'extendedKeyUsage=critical,serverAuth',
};

/** A time-stamping service (RFC 3161), which is `openssl ts`. */
export interface TimestampAuthority {
  /** Certificate of the authority that vouches for the service, PEM; and the file that it is in. */
  ca: string;
  caFile: string;
  /** Answers a query, DER. */
  answer(query: Buffer): Promise<Buffer>;
  /** Signs a TSTInfo as it is, whatever its certificate is for. @returns an answer, DER */
  sign(info: Buffer): Promise<Buffer>;
  /** Another certificate of the service, DER: of the same key and issuer, with the same number. */
  anotherCertificate(): Promise<Buffer>;
  /** Answers queries over HTTP. */
  handler: Handler;
  /** As a person checks an answer. @returns what `openssl ts -verify` says @throws if it does not hold */
  verify(answer: Buffer, data: string): Promise<string>;
  remove(): Promise<void>;
}

/** @param purpose what the certificate of the service is for */
export async function createTimestampAuthority(
  purpose: keyof typeof PURPOSES = 'time stamps',
): Promise<TimestampAuthority> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-timestamps-'));
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  await writeFile(join(folder, 'tsa.cnf'), CONFIGURATION);
  await writeFile(join(folder, 'serial'), '01\n');
  await writeFile(
    join(folder, 'extensions'),
    `basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\n${PURPOSES[purpose]}\n`,
  );
  await openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=Time authority',
    '-days',
    '2',
  );
  await openssl('req', ...key, '-keyout', 'tsa.key', '-out', 'tsa.csr', '-subj', '/CN=time.example.com');
  const certify = (...args: string[]) =>
    openssl(
      ...['x509', '-req', '-in', 'tsa.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-extfile', 'extensions'],
      ...args,
    );
  await certify('-CAcreateserial', '-days', '2', '-out', 'tsa.pem');

  const answer = async (query: Buffer) => {
    await writeFile(join(folder, 'query'), query);
    await openssl(
      ...[
        'ts',
        '-reply',
        '-config',
        'tsa.cnf',
        '-queryfile',
        'query',
        '-signer',
        'tsa.pem',
        '-inkey',
        'tsa.key',
      ],
      ...['-out', 'answer'],
    );
    return readFile(join(folder, 'answer'));
  };
  return {
    ca: await readFile(join(folder, 'ca.pem'), 'utf8'),
    caFile: join(folder, 'ca.pem'),
    answer,
    async sign(info) {
      await writeFile(join(folder, 'info'), info);
      await openssl(
        ...[
          'cms',
          '-sign',
          '-in',
          'info',
          '-binary',
          '-nodetach',
          '-econtent_type',
          '1.2.840.113549.1.9.16.1.4',
        ],
        ...[
          '-cades',
          '-md',
          'sha256',
          '-signer',
          'tsa.pem',
          '-inkey',
          'tsa.key',
          '-outform',
          'DER',
          '-out',
          'token',
        ],
      );
      const token = await readFile(join(folder, 'token'));
      // TimeStampResp: granted, and the token.
      const content = Buffer.concat([Buffer.from('3003020100', 'hex'), token]);
      return Buffer.concat([Buffer.of(0x30, 0x82, content.length >> 8, content.length & 0xff), content]);
    },
    async anotherCertificate() {
      const { stdout } = await openssl('x509', '-in', 'tsa.pem', '-noout', '-serial');
      const serial = `0x${stdout.trim().split('=')[1]}`;
      await certify('-set_serial', serial, '-days', '1', '-outform', 'DER', '-out', 'another');
      return readFile(join(folder, 'another'));
    },
    async handler({ headers }, response, body) {
      const isQuery = headers['content-type'] === 'application/timestamp-query';
      response.writeHead(isQuery ? 200 : 415, { 'content-type': 'application/timestamp-reply' });
      response.end(isQuery ? await answer(body) : undefined);
    },
    async verify(given, data) {
      await writeFile(join(folder, 'given'), given);
      await writeFile(join(folder, 'data'), data);
      const { stdout } = await openssl('ts', '-verify', '-in', 'given', '-data', 'data', '-CAfile', 'ca.pem');
      return stdout;
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
