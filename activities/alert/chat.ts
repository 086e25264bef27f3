import { ApplicationFailure } from '@temporalio/common';
import { isSuccess } from '../../src/domain/attempt/outcome.js';
import { parseRetryAfter } from '../../src/domain/http/retry-after.js';
import { cutText } from '../../src/domain/text/unicode.js';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import type { HttpPoster } from '../http/exchange.js';
import type { AlertSender } from './send-alerts.js';

/** The most characters of a message that chat services take: Slack cuts at 40,000, Discord refuses more than 2,000. */
const MAX_TEXT = 2_000;

/**
 * Posts to an incoming webhook: `{"text": …}`, as Slack, Mattermost, Rocket.Chat and Google Chat take it.
 *
 * @param url a secret
 */
export function createChatSender(url: string, poster: HttpPoster, userAgent: string): AlertSender {
  return async ({ subject, text }) => {
    const answer = await poster.exchange({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', 'user-agent': userAgent },
      body: JSON.stringify({ text: escaped(cutText(`${subject}\n\n${text}`.trim(), MAX_TEXT, ' …')) }),
      timeoutMs: 10_000,
    });
    if ('error_code' in answer)
      throw new Error(`The chat webhook could not be reached (${answer.error_code}).`);
    const { statusCode, headers } = answer;
    if (isSuccess(statusCode)) return;
    const after = headers['retry-after'];
    const nextRetryDelay = parseRetryAfter(Array.isArray(after) ? after[0] : after, sharedNow());
    throw ApplicationFailure.create({
      message: `The chat webhook responded with ${statusCode}.`,
      ...(nextRetryDelay !== undefined && { nextRetryDelay }),
    });
  };
}

/** Slack's rules: https://docs.slack.dev/messaging/formatting-message-text#escaping */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
