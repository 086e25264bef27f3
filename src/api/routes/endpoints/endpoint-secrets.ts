import { z } from 'zod';
import { parseDuration } from '../../../domain/basics/duration.js';
import { SIGNATURE_SCHEMES } from '../../../domain/delivery/signature.js';
import { Problem } from '../../../domain/http/problem.js';
import { namedEndpoint } from '../../../domain/ledger/summaries.js';
import type { ApiDependencies } from '../../http/context.js';
import { oneAfterAnother } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { overlapSchema } from '../../http/parameters.js';
import { renderKeys, secretSchema } from './endpoint-view.js';
import { findEndpoint } from './endpoints.js';

/** Each delivery carries a signature for each of them. */
const MAX_SIGNING_KEYS = 5;

const rotationBody = z.strictObject({
  overlap: overlapSchema('24h').describe('How long the current secrets sign too'),
  signature_scheme: z.enum(SIGNATURE_SCHEMES).optional().describe('Absent: as before'),
});

/** Signing secrets: how subscribers know that a delivery is genuine. */
export function endpointSecretOperations(dependencies: ApiDependencies): Operation[] {
  const { database, endpointWorkflows } = dependencies;

  return [
    operation('get', '/endpoints/:id/secret', 'getEndpointSecret', {
      summary: "Read an endpoint's signing secret, or the public key of its key pair",
      scope: 'secrets:read',
      responses: { 200: { description: 'The newest key', schema: secretSchema } },
      isSecret: true,
      async handle({ params: { id } }, ctx) {
        return renderKeys(database.endpoints.secretsOf(await findEndpoint(dependencies, ctx, id)));
      },
    }),

    operation('post', '/endpoints/:id/secret/rotate', 'rotateEndpointSecret', {
      summary: 'Rotate the signing secret of an endpoint; the old one signs too until the overlap ends',
      scope: 'endpoints:write',
      body: rotationBody,
      responses: { 200: { description: 'The new key', schema: secretSchema } },
      isSecret: true,
      problems: ['invalid_request', 'endpoint_state_conflict'],
      async handle({ params: { id }, body: { overlap, signature_scheme } }, ctx) {
        const { account_id } = await findEndpoint(dependencies, ctx, id);
        const endpoint = await oneAfterAnother(database, account_id, 'endpoint', id, async () => {
          const before = await database.endpoints.getFresh(account_id, id);
          const [newest] = before?.sealed.signing_keys ?? [];
          if (!before || !newest) throw conflict('The endpoint was deleted meanwhile.');
          const overlapMs = parseDuration(overlap);
          if (overlapMs > 0 && before.sealed.signing_keys.length >= MAX_SIGNING_KEYS) {
            throw conflict(
              `${MAX_SIGNING_KEYS} secrets sign at the moment, which is the limit. End their overlap with DELETE …/secret/previous, or rotate with "overlap": "0s".`,
            );
          }
          const scheme = signature_scheme ?? newest.scheme;
          return database.endpoints.rotateSecret(before, scheme, overlapMs, originOf(ctx));
        });
        if (!endpoint) throw conflict('The endpoint was changed at the same time. Send it again.');
        await endpointWorkflows.secretsChanged(namedEndpoint(endpoint));
        return renderKeys(database.endpoints.secretsOf(endpoint));
      },
    }),

    operation('delete', '/endpoints/:id/secret/previous', 'revokePreviousSecrets', {
      summary: 'End the overlap of a rotation at once: only the newest secret signs from now on',
      scope: 'endpoints:write',
      responses: { 204: { description: 'Ended' } },
      async handle({ params: { id } }, ctx) {
        const endpoint = await findEndpoint(dependencies, ctx, id);
        await database.endpoints.retireSecrets(endpoint.account_id, id, originOf(ctx), true);
        await endpointWorkflows.secretsChanged(namedEndpoint(endpoint));
      },
    }),
  ];
}

function conflict(detail: string): Problem {
  return new Problem('endpoint_state_conflict', detail);
}
