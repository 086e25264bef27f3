import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A DNS server that answers as its test wants. */
export interface HostileDns {
  /** `127.0.0.1:PORT`, as HOOKLINE_DNS_SERVERS takes it. */
  readonly address: string;
  /** Questions for IPv4 addresses so far, by name. */
  readonly questions: readonly string[];
  close(): Promise<void>;
}

const TYPE_A = 1;
const HEADER_BYTES = 12;

/**
 * Starts a DNS server on loopback (RFC 1035). It has no IPv6 addresses.
 *
 * @param answer the IPv4 addresses of a name, given how often it was asked before
 */
export async function startHostileDns(
  answer: (name: string, asked: number) => string[],
): Promise<HostileDns> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, sender) => {
    const { name, type, end } = readQuestion(query);
    let addresses: string[] = [];
    if (type === TYPE_A) {
      addresses = answer(name, questions.filter((asked) => asked === name).length);
      questions.push(name);
    }
    socket.send(reply(query, end, addresses), sender.port, sender.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** The question again, and its answers, which nobody may keep (time to live 0). */
function reply(query: Buffer, questionEnd: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(query.subarray(0, questionEnd));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const answers = addresses.map((address) =>
    Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...answers]);
}
