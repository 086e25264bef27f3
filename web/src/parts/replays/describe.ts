import type { Replay } from '../../api/types.js';

const MODES: Record<string, string> = {
  failed: 'Send again what failed',
  missed: 'Send what an endpoint missed',
  all: 'Send everything again',
};
const ACTIONS: Record<string, string> = {
  retry: 'Retry what waits',
  cancel: 'Cancel what is open',
  resume: 'Resume what is paused',
};

/** Description of a replay, in a few words. */
export function describeReplay({ action, mode }: Pick<Replay, 'action' | 'mode'>): string {
  return ACTIONS[action] ?? MODES[mode ?? 'failed'] ?? action;
}

/** Choices for a replay: an action, and of resending which deliveries. */
export const CHOICES = [
  {
    id: 'failed',
    action: 'resend',
    mode: 'failed',
    name: MODES['failed'],
    hint: 'Deliveries that ended exhausted, expired or cancelled.',
  },
  {
    id: 'missed',
    action: 'resend',
    mode: 'missed',
    name: MODES['missed'],
    hint: 'What failed, and every event that the endpoint never had although it is registered for it.',
  },
  {
    id: 'all',
    action: 'resend',
    mode: 'all',
    name: MODES['all'],
    hint: 'Everything closed, also what was delivered.',
  },
  {
    id: 'retry',
    action: 'retry',
    mode: undefined,
    name: ACTIONS['retry'],
    hint: 'Retrying and parked deliveries: an attempt now.',
  },
  {
    id: 'cancel',
    action: 'cancel',
    mode: undefined,
    name: ACTIONS['cancel'],
    hint: 'Open deliveries are given up.',
  },
  {
    id: 'resume',
    action: 'resume',
    mode: undefined,
    name: ACTIONS['resume'],
    hint: 'Deliveries that somebody paused go on.',
  },
] as const;

export type Choice = (typeof CHOICES)[number]['id'];
