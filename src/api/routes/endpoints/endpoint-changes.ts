import type { EndpointWithSecrets } from '../../../models/endpoint/endpoint-document.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { kindNames } from '../event-kinds/find-kind.js';
import { checkEndpoint, endpointBody } from './endpoint-body.js';
import { type EndpointPatch, endpointPatch, patchEndpoint } from './endpoint-patch.js';
import { endpointSchema, renderEndpoint } from './endpoint-view.js';
import { changeEndpoint } from './write-endpoint.js';

const CHANGED = { 200: { description: 'The endpoint after the change', schema: endpointSchema } };

/** Changes of endpoints: as a whole, in part, and pausing. */
export function endpointChangeOperations(dependencies: ApiDependencies): Operation[] {
  const patch = async (ctx: Context, id: string, change: EndpointPatch) => {
    const kinds = await kindNames(dependencies.database, ctx.state.caller.account_id);
    const decide = (before: EndpointWithSecrets) => patchEndpoint(dependencies, change, before, kinds);
    return renderEndpoint(await changeEndpoint(dependencies, ctx, id, decide, change.status === 'active'));
  };

  return [
    operation('put', '/endpoints/:id', 'replaceEndpoint', {
      summary: 'Replace all settings of an endpoint; another target URL has to be verified again',
      scope: 'endpoints:write',
      body: endpointBody,
      responses: CHANGED,
      problems: ['invalid_request', 'insecure_target_url', 'endpoint_state_conflict', 'filter_limit_reached'],
      async handle({ account_id, params: { id }, body }, ctx) {
        const kinds = await kindNames(dependencies.database, account_id);
        const endpoint = await changeEndpoint(dependencies, ctx, id, (before) =>
          checkEndpoint(dependencies, body, kinds, before),
        );
        return renderEndpoint(endpoint);
      },
    }),

    operation('patch', '/endpoints/:id', 'updateEndpoint', {
      summary: 'Change some settings of an endpoint by a JSON Merge Patch; the others stay as they are',
      scope: 'endpoints:write',
      body: endpointPatch,
      bodyTypes: ['application/merge-patch+json', 'application/json'],
      responses: CHANGED,
      problems: ['invalid_request', 'insecure_target_url', 'endpoint_state_conflict', 'filter_limit_reached'],
      handle: ({ params: { id }, body }, ctx) => patch(ctx, id, body),
    }),

    operation('post', '/endpoints/:id/pause', 'pauseEndpoint', {
      summary: 'Pause an endpoint: its deliveries are parked until it is resumed; other settings stay',
      scope: 'endpoints:write',
      responses: CHANGED,
      problems: ['endpoint_state_conflict'],
      handle: ({ params: { id } }, ctx) => patch(ctx, id, { status: 'paused' }),
    }),

    operation('post', '/endpoints/:id/resume', 'resumeEndpoint', {
      summary: 'Make a paused or disabled endpoint active again and release its parked deliveries',
      scope: 'endpoints:write',
      responses: CHANGED,
      problems: ['endpoint_state_conflict'],
      handle: ({ params: { id } }, ctx) => patch(ctx, id, { status: 'active' }),
    }),
  ];
}
