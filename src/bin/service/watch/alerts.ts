import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { Counter, type Registry } from 'prom-client';
import { createChatSender } from '../../../../activities/alert/chat.js';
import { createMailSender } from '../../../../activities/alert/mail.js';
import type { AlertSenders } from '../../../../activities/alert/send-alerts.js';
import type { HttpPoster } from '../../../../activities/http/exchange.js';
import type { ActivityDependencies } from '../../../../activities/index.js';
import type { Settings } from '../../../config/schema.js';
import { ALERT_CHANNELS } from '../../../domain/alert/alert.js';
import { Alerts } from '../../../temporal/write/alerts.js';
import { USER_AGENT } from '../attempts.js';
import type { Servers } from '../servers.js';

export type AlertPorts = Pick<ActivityDependencies, 'alerts' | 'raiser'>;

/**
 * Functions that send alerts to people, and that raise them; nothing is raised if no channel is configured.
 *
 * @throws Error naming the setting that is missing
 */
export async function createAlerts(
  settings: Settings,
  { temporal: { client } }: Servers,
  poster: HttpPoster,
  registry: Registry,
): Promise<AlertPorts> {
  const alerts = counted(await alertSenders(settings, poster), registry);
  const channels = ALERT_CHANNELS.filter((channel) => alerts[channel]);
  if (channels.length === 0) return { alerts };
  const raiser = new Alerts({
    client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    channels,
    kinds: settings.HOOKLINE_ALERT_KINDS,
    holdMs: settings.HOOKLINE_ALERT_AFTER,
    intervalMs: settings.HOOKLINE_ALERT_INTERVAL,
  });
  return { alerts, raiser };
}

/** The channels that are configured. @throws Error naming the setting that is missing */
export async function alertSenders(settings: Settings, poster: HttpPoster): Promise<AlertSenders> {
  const {
    HOOKLINE_SMTP_URL: smtpUrl,
    HOOKLINE_ALERT_MAIL_FROM: from,
    HOOKLINE_ALERT_MAIL_TO: to,
    HOOKLINE_ALERT_CHAT_URL: chatUrl,
    HOOKLINE_EXTRA_CA_FILE: caFile,
  } = settings;
  const senders: AlertSenders = {};
  if (to.length > 0) {
    if (!smtpUrl || !from)
      throw new Error(
        'Set HOOKLINE_SMTP_URL and HOOKLINE_ALERT_MAIL_FROM: HOOKLINE_ALERT_MAIL_TO needs both.',
      );
    const ca = caFile ? [...rootCertificates, await readFile(caFile, 'utf8')] : undefined;
    senders.mail = createMailSender({ smtpUrl, from, to, ca });
  }
  if (chatUrl) senders.chat = createChatSender(chatUrl, poster, USER_AGENT);
  return senders;
}

/** The channels, with a count of the messages that they took and refused. */
function counted(senders: AlertSenders, registry: Registry): AlertSenders {
  const messages = new Counter({
    name: 'hookline_alert_messages_total',
    help: 'Messages to people that were sent, and tries that failed',
    labelNames: ['channel', 'result'],
    registers: [registry],
  });
  const countedSenders: AlertSenders = {};
  for (const channel of ALERT_CHANNELS) {
    const send = senders[channel];
    if (!send) continue;
    for (const result of ['sent', 'failed']) messages.inc({ channel, result }, 0);
    countedSenders[channel] = async (message, id) => {
      try {
        await send(message, id);
        messages.inc({ channel, result: 'sent' });
      } catch (error) {
        messages.inc({ channel, result: 'failed' });
        throw error;
      }
    };
  }
  return countedSenders;
}
