import type { AlertSender } from './send-alerts.js';

/** How mail is sent. */
export interface MailOptions {
  /** `smtp://user:password@mail.example.com:587`, or `smtps://…` for TLS from the beginning. */
  smtpUrl: string;
  from: string;
  to: readonly string[];
  /** PEM certificates of the authorities that the server's certificate may be signed by; absent: the public ones. */
  ca?: readonly string[] | undefined;
}

/** Sends mail over SMTP. A password goes over TLS only. */
export function createMailSender({ smtpUrl, from, to, ca }: MailOptions): AlertSender {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  return async (message, id) => {
    // Loaded when it is needed: most processes send no mail.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      host,
      ...(port && { port: Number(port) }),
      secure: protocol === 'smtps:',
      ...(username && {
        auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
        requireTLS: true,
      }),
      tls: { ...(ca && { ca: [...ca] }) },
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 20_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
        from,
        to: [...to],
        subject: message.subject,
        text: message.text,
        // The same for a repeat, by which mail programs find duplicates.
        messageId: `<${id}@${from.split('@').at(-1)?.replace(/>$/, '')}>`,
        // RFC 3834: no out-of-office replies, please.
        headers: { 'auto-submitted': 'auto-generated' },
      });
    } catch (error) {
      throw new Error(describe(error));
    } finally {
      transport.close();
    }
  };
}

/**
 * Codes alone: what a server says may repeat what it was sent. The codes are nodemailer's and those of RFC 5321,
 * section 4.2.
 */
function describe(error: unknown): string {
  const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
  const facts = [code, responseCode, command].filter((fact) => fact !== undefined).join(', ');
  return `The mail server did not take the message${facts ? ` (${facts})` : ''}.`;
}
