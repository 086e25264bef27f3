import { createPoster } from '../../../packages/egress/src/index.js';
import type { Settings } from '../../config/schema.js';
import { print } from '../client/terminal.js';
import { addressPolicyOf, connectorOptions, portsOf } from '../service/egress.js';
import { alertSenders } from '../service/watch/alerts.js';

/**
 * Sends a message over each channel to people that the settings name.
 *
 * @throws Error that says which channel does not work
 */
export async function testAlert(settings: Settings): Promise<void> {
  const poster = createPoster(
    await connectorOptions(settings, addressPolicyOf(settings), () => portsOf(settings)),
  );
  try {
    const channels = Object.entries(await alertSenders(settings, poster));
    if (channels.length === 0)
      throw new Error('No channel is configured. Set HOOKLINE_ALERT_MAIL_TO or HOOKLINE_ALERT_CHAT_URL.');
    for (const [channel, send] of channels) {
      await send(
        { subject: 'Hookline: a test', text: 'This is a test. Alerts will come here.\n' },
        `test.${Date.now()}`,
      );
      print(`${channel}: sent.`);
    }
  } finally {
    await poster.close();
  }
}
