import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { mongo } from 'mongoose';

/** The opcode of commands and of their responses, and where the parts of such a message begin. */
const OP_MSG = 2013;
const REQUEST_ID = 4;
const OPCODE = 12;
const NAME = 26;
/** Header, flags, and the kind of the section with the command. */
const BEFORE_BODY = 21;

const WRITES = ['insert', 'update', 'delete', 'findAndModify'];
/** The response of a server that takes no writes of users: `setUserWriteBlockMode`. */
const BLOCKED = { ok: 0, errmsg: 'User writes blocked', code: 371, codeName: 'UserWritesBlocked' };

/** A command on its way to MongoDB. */
export interface Command {
  isWrite: boolean;
  collection: string;
  /** The message has this text. */
  has(text: string): boolean;
}

/** Fate of a command: it is passed on, refused as a write of a server that takes none, or held. */
export type Fate = 'pass' | 'refuse' | 'hold';

/** A proxy before a MongoDB server that looks at commands, and can be slow. */
export interface MongodbProxy {
  /** The URI of the server, at the proxy. */
  readonly uri: string;
  /** Commands that are being held. */
  readonly held: number;
  /** Decides about each command from now on. */
  rule(rule: (command: Command) => Fate): void;
  /** Passes every command on, those that are held included. */
  heal(): void;
  /** From now on every response comes so much later, milliseconds. */
  slowDown(ms: number): void;
  close(): void;
}

/** @param uri of a server without TLS */
export async function startMongodbProxy(uri: string): Promise<MongodbProxy> {
  const target = new URL(uri);
  const mongodb = { host: target.hostname, port: Number(target.port) };
  const pass = (): Fate => 'pass';
  const held = new Map<() => void, Socket>();
  const sockets = new Set<Socket>();
  let decide: (command: Command) => Fate = pass;
  let slowMs = 0;
  const server = createServer((client) => {
    const upstream = connect(mongodb);
    const messages = messagesIn();
    client.on('data', (chunk) => {
      for (const message of messages(chunk)) {
        const command = commandOf(message);
        const fate = command ? decide(command) : 'pass';
        if (fate === 'refuse') client.write(refusalOf(message));
        else if (fate === 'hold') held.set(() => upstream.write(message), client);
        else upstream.write(message);
      }
    });
    upstream.on('data', (chunk) => {
      if (slowMs === 0) client.write(chunk);
      else setTimeout(() => client.write(chunk), slowMs);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
        for (const [send, from] of held) if (from === client) held.delete(send);
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  target.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    uri: target.href,
    get held() {
      return held.size;
    },
    rule(rule) {
      decide = rule;
    },
    heal() {
      decide = pass;
      for (const send of held.keys()) send();
      held.clear();
    },
    slowDown(ms) {
      slowMs = ms;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Cuts what comes on a connection into messages, each of which begins with its length. */
function messagesIn() {
  let rest: Buffer = Buffer.alloc(0);
  return function* (chunk: Buffer): Generator<Buffer> {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
    }
  };
}

/** The command of a message: its first field has its name, and the collection if it is about one. */
function commandOf(message: Buffer): Command | undefined {
  if (message.readInt32LE(OPCODE) !== OP_MSG) return undefined;
  const end = message.indexOf(0, NAME);
  const begin = end + 1 + 4;
  return {
    isWrite: WRITES.includes(message.toString('latin1', NAME, end)),
    collection: message.toString('latin1', begin, message.indexOf(0, begin)),
    has: (text) => message.includes(text),
  };
}

function refusalOf(message: Buffer): Buffer {
  const body = mongo.BSON.serialize(BLOCKED);
  const head = Buffer.alloc(BEFORE_BODY);
  head.writeInt32LE(BEFORE_BODY + body.length, 0);
  head.writeInt32LE(message.readInt32LE(REQUEST_ID), 8);
  head.writeInt32LE(OP_MSG, OPCODE);
  return Buffer.concat([head, body]);
}
