import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { readVerifierKey, readWitnessSigner } from '../../../packages/tlog/src/index.js';
import { createWitness, witnessServer } from '../../../packages/tlog/src/witness.js';
import { note, print } from '../client/terminal.js';
import { CommandError, linesOf } from '../command.js';
import { untilStopped } from '../process/stop.js';
import { prepareState, stateIn } from './witness-state.js';

/** Runs a witness until it is told to stop. @throws CommandError if an option is missing, or what it saw is */
export async function runWitness({
  key,
  log = [],
  state,
  listen = '127.0.0.1:8091',
  new: isNew = false,
}: {
  key?: string | undefined;
  log?: readonly string[] | undefined;
  state?: string | undefined;
  listen?: string | undefined;
  /** It has cosigned nothing yet. */
  new?: boolean | undefined;
}): Promise<void> {
  if (!key || !state || log.length === 0)
    throw new CommandError('Say --key FILE, --state FILE and --log KEY, the public key of a log.');
  const signer = readWitnessSigner((await readFile(key, 'utf8')).trim());
  await prepareState(state, isNew);
  const witness = createWitness({
    signer,
    state: stateIn(state),
    logs: log.map((text) => readVerifierKey(text.trim())),
  });
  const server = witnessServer(witness, (error) => {
    note(linesOf(error).join('\n'));
  });
  const [host = '', port = ''] = listen.split(/:(?=\d+$)/);
  server.listen(Number(port), host);
  await once(server, 'listening');
  print(
    `The witness ${signer.verifier.text} listens at http://${host}:${(server.address() as AddressInfo).port}`,
  );
  await untilStopped(new Promise(() => {}));
  server.close();
  server.closeAllConnections();
}
