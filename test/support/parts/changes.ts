import assert from 'node:assert/strict';
import type { Change } from '../../../src/domain/change/change.js';
import type { Answer, ApiClient } from '../api-client.js';

/**
 * The address that requests of these tests come from, and how a proxy in front of the API says so: callers can write
 * before it what they like.
 */
export const ADDRESS = '203.0.113.7';
export const FORWARDED = { 'x-forwarded-for': `198.51.100.1, ${ADDRESS}` };

/** Sends a request below the version, and expects success. */
export async function send(client: ApiClient, method: string, path: string, body?: unknown): Promise<Answer> {
  const more = body === undefined ? {} : { body };
  const answer = await client.request(method, `/v18.0${path}`, { headers: FORWARDED, ...more });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer;
}

/** The changes of a resource, newest first. */
export async function changesOf(client: ApiClient, resource: string): Promise<Change[]> {
  return (await send(client, 'GET', `/changes?resource=${resource}`)).json.data;
}

/** The last change of a resource. */
export async function newestChange(client: ApiClient, resource: string): Promise<Change> {
  const [change] = await changesOf(client, resource);
  assert.ok(change, `no change of ${resource}`);
  return change;
}
