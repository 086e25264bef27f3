import { readFile } from 'node:fs/promises';
import type { NativeConnectionOptions } from '@temporalio/worker';

/** PEM files of a connection to Temporal, and the name that its certificate must have. */
export interface TemporalTls {
  /** Certificate of the client for mutual TLS, with `clientKeyFile`. */
  clientCertFile?: string | undefined;
  clientKeyFile?: string | undefined;
  /** Authorities; absent: those of the system. */
  serverCaFile?: string | undefined;
  serverName?: string | undefined;
}

/**
 * The option of the SDK for these files.
 *
 * @throws Error that names the file that cannot be read, or what is missing beside the other
 */
export async function tlsOption({
  clientCertFile,
  clientKeyFile,
  serverCaFile,
  serverName,
}: TemporalTls): Promise<NativeConnectionOptions['tls']> {
  if ((clientCertFile === undefined) !== (clientKeyFile === undefined))
    throw new Error(
      'Set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH together, or neither of them.',
    );
  return {
    ...(clientCertFile !== undefined &&
      clientKeyFile !== undefined && {
        clientCertPair: {
          crt: await read('TEMPORAL_TLS_CLIENT_CERT_PATH', clientCertFile),
          key: await read('TEMPORAL_TLS_CLIENT_KEY_PATH', clientKeyFile),
        },
      }),
    ...(serverCaFile !== undefined && {
      serverRootCACertificate: await read('TEMPORAL_TLS_SERVER_CA_CERT_PATH', serverCaFile),
    }),
    ...(serverName !== undefined && { serverNameOverride: serverName }),
  };
}

async function read(setting: string, path: string): Promise<Buffer> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${setting}: ${path} cannot be read (${error.code}).`, { cause: error });
  });
}
