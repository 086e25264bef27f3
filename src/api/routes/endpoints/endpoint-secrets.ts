import { z } from 'zod';
import { parseDuration } from '../../../domain/basics/duration.js';
import { SIGNATURE_SCHEMES } from '../../../domain/delivery/signature.js';
import { Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { ApiDependencies } from '../../http/context.js';
import { overlapSchema } from '../../http/durations.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { renderKeys, secretSchema } from './endpoint-view.js';
import { findEndpoint } from './endpoints.js';

const DEFAULT_OVERLAP = '24h';
/** Each delivery carries a signature for each of them. */
const MAX_SIGNING_KEYS = 5;

const rotationBody = z.strictObject({
  overlap: overlapSchema(DEFAULT_OVERLAP).describe('How long the current secrets sign too'),
  signature_scheme: z.enum(SIGNATURE_SCHEMES).optional().describe('Absent: as before'),
});

/** Signing secrets: how subscribers know that a delivery is genuine. */
export function endpointSecretOperations(dependencies: ApiDependencies): Operation[] {
  const { database, endpointWorkflows } = dependencies;

  return [
    operation({
      method: 'get',
      path: '/endpoints/:id/secret',
      id: 'getEndpointSecret',
      summary: "Read an endpoint's signing secret, or the public key of its key pair",
      scope: 'secrets:read',
      responses: { 200: { description: 'The newest key', schema: secretSchema } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        ctx.set('cache-control', 'no-store');
        ctx.body = renderKeys(database.endpoints.secretsOf(await findEndpoint(dependencies, ctx, id)));
      },
    }),

    operation({
      method: 'post',
      path: '/endpoints/:id/secret/rotate',
      id: 'rotateEndpointSecret',
      summary: 'Rotate the signing secret of an endpoint; the old one signs too until the overlap ends',
      scope: 'endpoints:write',
      body: rotationBody,
      responses: { 200: { description: 'The new key', schema: secretSchema } },
      problems: ['invalid_request', 'endpoint_state_conflict'],
      async handle(ctx, { params: { id = '' }, body: { overlap, signature_scheme } }) {
        const found = await findEndpoint(dependencies, ctx, id);
        const before = await database.endpoints.getFresh(found.account_id, id);
        const [newest] = before?.sealed.signing_keys ?? [];
        if (!before || !newest) throw conflict('The endpoint was deleted meanwhile.');
        const overlapEnds = new Date(Date.now() + parseDuration(overlap));
        if (parseDuration(overlap) > 0 && before.sealed.signing_keys.length >= MAX_SIGNING_KEYS) {
          throw conflict(
            `${MAX_SIGNING_KEYS} secrets sign at the moment, which is the limit. End their overlap with DELETE …/secret/previous, or rotate with "overlap": "0s".`,
          );
        }
        const scheme = signature_scheme ?? newest.scheme;
        const endpoint = await database.endpoints.rotateSecret(before, scheme, overlapEnds, originOf(ctx));
        if (!endpoint) throw conflict('The endpoint was changed at the same time. Send it again.');
        await endpointWorkflows.secretsChanged({
          account_id: before.account_id,
          endpoint_id: id,
          host: hostOf(before.target_url),
        });
        ctx.set('cache-control', 'no-store');
        ctx.body = renderKeys(database.endpoints.secretsOf(endpoint));
      },
    }),

    operation({
      method: 'delete',
      path: '/endpoints/:id/secret/previous',
      id: 'revokePreviousSecrets',
      summary: 'End the overlap of a rotation at once: only the newest secret signs from now on',
      scope: 'endpoints:write',
      responses: { 204: { description: 'Ended' } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id, target_url } = await findEndpoint(dependencies, ctx, id);
        await database.endpoints.retireSecrets(account_id, id, originOf(ctx), true);
        await endpointWorkflows.secretsChanged({ account_id, endpoint_id: id, host: hostOf(target_url) });
        ctx.status = 204;
      },
    }),
  ];
}

function conflict(detail: string): Problem {
  return new Problem('endpoint_state_conflict', detail);
}
