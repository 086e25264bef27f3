import { equal } from 'node:assert/strict';
import { outcomeOfClient, outcomeOfToken } from '../../../web/src/api/link-rules.js';

const TOKEN = `hlps_${'a'.repeat(49)}`;
const OTHER = `hlps_${'b'.repeat(49)}`;
const KEY = `hlk_${'a'.repeat(49)}`;

describe('what a link brings along', () => {
  for (const [token, role, current, outcome] of [
    [TOKEN, 'portal', undefined, 'taken'],
    [TOKEN, 'portal', OTHER, 'asked about'],
    [TOKEN, 'portal', KEY, 'asked about'],
    [TOKEN, 'portal', TOKEN, 'ignored'],
    [TOKEN, 'desk', undefined, 'ignored'],
    [TOKEN, 'desk', OTHER, 'ignored'],
    [KEY, 'portal', undefined, 'ignored'],
    [KEY, 'portal', OTHER, 'ignored'],
    ['', 'portal', undefined, 'ignored'],
    [`${TOKEN}a`, 'portal', undefined, 'ignored'],
    [`${TOKEN}\n`, 'portal', undefined, 'ignored'],
  ] as const)
    it(`is ${outcome}: ${JSON.stringify(token).slice(0, 8)} in the ${role}, where ${current?.slice(0, 6) ?? 'nobody'} is`, () =>
      equal(outcomeOfToken(token, role, current), outcome));

  for (const [client, known, isSignedIn, outcome] of [
    ['client_a', '', false, 'taken'],
    ['client_a', '', true, 'asked about'],
    ['client_a', 'client_b', false, 'asked about'],
    ['client_a', 'client_b', true, 'asked about'],
    ['client_a', 'client_a', true, 'ignored'],
    ['', '', false, 'ignored'],
    ['javascript:alert(1)', '', false, 'ignored'],
  ] as const)
    it(`is ${outcome}: the client ${client || 'without a name'} beside ${known || 'none'}`, () =>
      equal(outcomeOfClient(client, known, isSignedIn), outcome));
});
