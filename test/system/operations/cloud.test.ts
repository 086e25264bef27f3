import { equal, match, ok, rejects } from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generate } from 'selfsigned';
import { connectTemporal } from '../../../src/temporal/server/connection.js';
import { prepareNamespace } from '../../../src/temporal/server/namespace.js';
import { type CloudFrontend, startCloudFrontend } from '../../support/outside/cloud-frontend.js';
import { runHere } from '../../support/programs/command.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { testAuthority, testCertificate } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Text that the command wrote to standard error when it failed. */
async function failure(command: string, environment: Record<string, string>): Promise<string> {
  return runHere(command, environment).then(
    () => {
      throw new Error('it did not fail');
    },
    ({ stderr, code }: { stderr: string; code: number }) => {
      equal(code, 1);
      return stderr;
    },
  );
}

describe('Temporal Cloud [world]', () => {
  const apiKey = 'tmprl-secret-key';
  let cloud: CloudFrontend | undefined;

  before(function () {
    // It would be a frontend before a frontend.
    if (servers().apiKey !== undefined) this.skip();
  });
  afterEach(async () => {
    await cloud?.close();
    cloud = undefined;
  });

  /** Settings that reach the servers of the run through it. */
  async function environmentOf(overrides: Record<string, string> = {}): Promise<Record<string, string>> {
    const { certFile } = await testAuthority();
    return testEnvironment({
      TEMPORAL_ADDRESS: cloud?.address ?? '',
      TEMPORAL_API_KEY: apiKey,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: certFile,
      HOOKLINE_RETENTION_DAYS: '30',
      ...overrides,
    });
  }

  it('is used as it is where somebody has prepared it, with an API key over TLS, and serves', async () => {
    cloud = await startCloudFrontend({
      upstream: servers().temporalAddress,
      apiKey,
      tls: await testCertificate(),
    });
    const environment = await environmentOf({ HOOKLINE_RETENTION_DAYS: '14' });
    const said = await runHere('migrate', environment);
    // Other tests set it, too.
    match(said, /keeps what is closed for \d+ days, and HOOKLINE_RETENTION_DAYS is 14\. .*--retention 14d\n/);
    match(said, /Temporal and MongoDB are ready\.$/);
    ok(!said.includes(apiKey));
    ok(cloud.refused.includes('UpdateNamespace') && cloud.refused.includes('ListSearchAttributes'));
    const service = await startServiceProcess(environment);
    try {
      await until(
        async () => (await fetch(`${service.url}/readyz`)).status,
        (status) => status === 200,
      );
    } finally {
      service.terminate();
      await service.exited;
    }
  });

  it('is told to somebody who may, with the commands, where search attributes or the namespace are missing', async () => {
    const { temporalAddress } = servers();
    const direct = await connectTemporal({ address: temporalAddress, namespace: 'default' });
    const namespace = `bare-${Date.now()}`;
    try {
      await direct.native.workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: { seconds: 30 * 86_400 } as never,
      });
      cloud = await startCloudFrontend({
        upstream: temporalAddress,
        apiKey,
        tls: await testCertificate(),
      });
      const lacking = await failure('migrate', await environmentOf({ TEMPORAL_NAMESPACE: namespace }));
      match(
        lacking,
        /^hookline: The namespace "bare-\d+" lacks search attributes, and Temporal does not let/,
      );
      match(
        lacking,
        /temporal operator search-attribute create --namespace bare-\d+ \\\n {4}--name HooklineAccount --type KeywordList \\\n/,
      );
      const absent = await failure('migrate', await environmentOf({ TEMPORAL_NAMESPACE: 'not-there' }));
      match(absent, /There is no namespace "not-there"/);
      match(absent, /temporal operator namespace create --namespace not-there --retention 30d\n/);
      // What the lines do, and nothing more.
      await prepareNamespace(direct, { name: namespace, retentionDays: 30, address: temporalAddress });
      match(await runHere('migrate', await environmentOf({ TEMPORAL_NAMESPACE: namespace })), /are ready\.$/);
    } finally {
      await direct.close();
    }
  });

  it('knows a client by its certificate (mutual TLS), and says what is wrong with one', async () => {
    const authority = await testAuthority();
    cloud = await startCloudFrontend({
      upstream: servers().temporalAddress,
      tls: { ...(await testCertificate()), clientAuthority: authority.cert },
    });
    const client = await generate([{ name: 'commonName', value: 'hookline' }], {
      keyType: 'ec',
      curve: 'P-256',
      algorithm: 'sha256',
      ca: authority,
      extensions: [
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', clientAuth: true },
      ],
    });
    const folder = dirname(authority.certFile);
    const [certFile, keyFile] = [join(folder, 'client.pem'), join(folder, 'client.key')];
    await Promise.all([
      writeFile(certFile, client.cert),
      writeFile(keyFile, client.private, { mode: 0o600 }),
    ]);
    const environment = await environmentOf({
      TEMPORAL_API_KEY: '',
      TEMPORAL_TLS_CLIENT_CERT_PATH: certFile,
      TEMPORAL_TLS_CLIENT_KEY_PATH: keyFile,
    });
    match(await runHere('migrate', environment), /are ready\.$/);
    match(
      await failure('migrate', { ...environment, TEMPORAL_TLS_CLIENT_KEY_PATH: '' }),
      /Set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH together/,
    );
    match(
      await failure('migrate', { ...environment, TEMPORAL_TLS_CLIENT_CERT_PATH: '/nowhere.pem' }),
      /TEMPORAL_TLS_CLIENT_CERT_PATH: \/nowhere\.pem cannot be read \(ENOENT\)/,
    );
  });

  it('refuses a wrong API key, which is said without the key', async () => {
    cloud = await startCloudFrontend({
      upstream: servers().temporalAddress,
      apiKey,
      tls: await testCertificate(),
    });
    const said = await failure('migrate', await environmentOf({ TEMPORAL_API_KEY: 'another-key' }));
    match(said, /TEMPORAL_API_KEY/);
    ok(!said.includes('another-key'));
    await rejects(
      startServiceProcess(await environmentOf({ TEMPORAL_API_KEY: 'another-key' })),
      /TEMPORAL_API_KEY/,
    );
  });
});
