import type Router from '@koa/router';
import { hashSecret, matchesHash } from '../../../domain/access/secret-hash.js';
import { isId } from '../../../domain/basics/ids.js';
import { Problem } from '../../../domain/http/problem.js';
import { namedEndpoint } from '../../../domain/ledger/summaries.js';
import type { ApiDependencies, Context, State } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { requestOf } from '../../http/origin.js';
import { invalidRequest } from '../../http/validation.js';
import { endpointSchema, renderEndpoint } from './endpoint-view.js';
import { findEndpoint } from './endpoints.js';

/** Verification: finding out whether an endpoint wants events. */
export function endpointVerificationOperations(dependencies: ApiDependencies): Operation[] {
  return [
    operation('post', '/endpoints/:id/verify', 'verifyEndpoint', {
      summary: 'Start the verification of a pending endpoint again, now',
      scope: 'endpoints:write',
      responses: { 202: { description: 'The endpoint, which is being verified', schema: endpointSchema } },
      location: '/endpoints/:id',
      problems: ['endpoint_state_conflict'],
      async handle({ params: { id } }, ctx) {
        const endpoint = await findEndpoint(dependencies, ctx, id);
        if (endpoint.status !== 'pending') {
          const detail = `The endpoint is ${endpoint.status}: only a pending endpoint can be verified. Resume a paused or disabled one.`;
          throw new Problem('endpoint_state_conflict', detail);
        }
        await dependencies.endpointWorkflows.verify(namedEndpoint(endpoint));
        return renderEndpoint(endpoint);
      },
    }),
  ];
}

/**
 * The confirmation URL, which a subscriber calls without a token of the account: the one in the URL is its proof. GET
 * or POST, as CloudEvents lets the subscriber choose ("HTTP 1.1 Web Hooks for Event Delivery", section 4.1.3).
 */
export function confirmationRoutes(
  router: Router<State>,
  { database, endpointWorkflows }: ApiDependencies,
): void {
  const confirm = async (ctx: Context): Promise<void> => {
    const id = ctx.params?.['id'] ?? '';
    const endpoint = isId('endpoint', id) ? await database.endpoints.find(id) : undefined;
    const secrets = endpoint?.status === 'pending' ? database.endpoints.secretsOf(endpoint) : undefined;
    const expected = secrets?.verification_token;
    // Without the token, nobody learns whether the endpoint exists.
    if (!endpoint || !expected || !matchesHash(String(ctx.query['token'] ?? ''), hashSecret(expected)))
      throw new Problem('invalid_verification_token', 'The token is not valid, or not valid any more.');
    const rate = ctx.get('webhook-allowed-rate').trim();
    if (rate !== '' && rate !== '*' && !/^[1-9]\d{0,8}$/.test(rate))
      throw invalidRequest([{ parameter: 'WebHook-Allowed-Rate', detail: 'must be a number above 0, or *' }]);
    const { account_id, verification_revision } = endpoint;
    await endpointWorkflows.confirm(
      { account_id, endpoint_id: id },
      {
        verification_revision,
        from: await database.privateInputs.keepFrom(requestOf(ctx)),
        ...(/^\d+$/.test(rate) && { allowed_rate: Number(rate) }),
      },
    );
    ctx.status = 202;
    ctx.body = { status: 'confirmed' };
  };
  router.get('/endpoint_verifications/:id', confirm);
  router.post('/endpoint_verifications/:id', confirm);
}
