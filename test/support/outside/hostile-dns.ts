import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** A DNS server that answers as its test wants. */
export interface HostileDns {
  /** `127.0.0.1:PORT`, as HOOKLINE_DNS_SERVERS takes it. */
  readonly address: string;
  /** Questions for IPv4 addresses so far, by name. */
  readonly questions: readonly string[];
  close(): Promise<void>;
}

/** Codes of answers without an address (RFC 1035, section 4.1.1). */
const FAILURES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;

/** Addresses; none of them is NODATA; a failure; or no answer at all. */
export type DnsAnswer = readonly string[] | keyof typeof FAILURES | 'silence';

export interface HostileDnsOptions {
  /** Response about IPv6 addresses. Default: that there is none. */
  v6?: (name: string) => DnsAnswer | Promise<DnsAnswer>;
  /** How long answers may be kept, seconds. Default: not at all. */
  ttl?: number;
}

const TYPE_A = 1;
const HEADER_BYTES = 12;

/**
 * Starts a DNS server on loopback (RFC 1035).
 *
 * @param answer what is said of a name's IPv4 addresses, given how often it was asked before
 */
export async function startHostileDns(
  answer: (name: string, asked: number) => DnsAnswer,
  { v6 = () => [], ttl = 0 }: HostileDnsOptions = {},
): Promise<HostileDns> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', async (query, sender) => {
    const { name, type, end } = readQuestion(query);
    const asked = questions.filter((other) => other === name).length;
    if (type === TYPE_A) questions.push(name);
    const said = await (type === TYPE_A ? answer(name, asked) : v6(name));
    if (said !== 'silence') socket.send(reply(query, end, said, ttl), sender.port, sender.address);
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

/** The question again, and what is said. */
function reply(query: Buffer, questionEnd: number, said: Exclude<DnsAnswer, 'silence'>, ttl: number): Buffer {
  const addresses = typeof said === 'string' ? [] : said;
  const head = Buffer.from(query.subarray(0, questionEnd));
  head.writeUInt16BE(0x8180 | (typeof said === 'string' ? FAILURES[said] : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const type = query.readUInt16BE(questionEnd - 4);
  const answers = addresses.map((address) => {
    const bytes = isIPv6(address) ? bytesOfV6(address) : address.split('.').map(Number);
    const record = Buffer.alloc(HEADER_BYTES);
    record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ttl, 6);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, Buffer.from(bytes)]);
  });
  return Buffer.concat([head, ...answers]);
}

function bytesOfV6(address: string): number[] {
  const [head = '', tail = ''] = address.split('::');
  const words = (text: string) =>
    text.split(':').flatMap((word) => (word ? [Number.parseInt(word, 16)] : []));
  const [first, last] = [words(head), words(tail)];
  const zeros = new Array<number>(8 - first.length - last.length).fill(0);
  return [...first, ...zeros, ...last].flatMap((word) => [word >> 8, word & 0xff]);
}
