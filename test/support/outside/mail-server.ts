import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { testCertificate } from '../receiver.js';
import { until } from '../until.js';

/** A mail that was taken. */
export interface Mail {
  from: string;
  to: string[];
  /** Headers and body as they came, with long header lines joined. */
  source: string;
  /** Whether the connection was encrypted. */
  secure: boolean;
}

export interface MailServer {
  port: number;
  received: readonly Mail[];
  /** Logins that were tried. */
  readonly logins: number;
  /** Refuses so many mails before it takes one. */
  refuse(times: number): void;
  waitFor(count: number): Promise<readonly Mail[]>;
  close(): Promise<void>;
}

/** A real SMTP server on this machine. It takes mail after a login, over TLS, unless it has none. */
export async function startMailServer(
  user: string,
  password: string,
  { hasTls = true } = {},
): Promise<MailServer> {
  const received: Mail[] = [];
  let refusals = 0;
  let logins = 0;
  const server = new SMTPServer({
    ...(await testCertificate()),
    disabledCommands: hasTls ? [] : ['STARTTLS'],
    allowInsecureAuth: !hasTls,
    onAuth({ username, password: given }, { secure }, callback) {
      logins += 1;
      const isRight = secure && username === user && given === password;
      callback(isRight ? null : new Error(`Invalid login for ${given}`), isRight ? { user } : undefined);
    },
    onData(stream, { envelope, secure }, callback) {
      void text(stream).then((source) => {
        if (refusals > 0) {
          refusals -= 1;
          callback(Object.assign(new Error('Try again later'), { responseCode: 451 }));
          return;
        }
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        const to = envelope.rcptTo.map(({ address }) => address);
        received.push({ from, to, source: source.replace(/\r\n[ \t]+/g, ' '), secure });
        callback();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    received,
    get logins() {
      return logins;
    },
    refuse(times) {
      refusals = times;
    },
    waitFor: (count) =>
      until(
        () => received,
        (mails) => mails.length >= count,
      ),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
