import type { QueryClient } from '@tanstack/react-query';
import type { EndpointWithSecret } from '../../api/types.js';
import { nameOfEndpoint } from '../../parts/endpoints/names.js';
import { useLook } from '../../shell/look/use-look.js';
import { Card, PageHead } from '../../shell/page.js';
import { To } from '../../ui/link.js';
import { SecretBox } from './secret/secret.js';
import { VerifyCode } from './secret/verify-code.js';
import { Verification } from './verification.js';

/** Keeps what a registration was answered, in memory alone: it has the secret. */
export function rememberRegistered(queryClient: QueryClient, endpoint: EndpointWithSecret): void {
  queryClient.setQueryData(['registered', endpoint.id], endpoint);
}

/** An endpoint that was registered on this page a moment ago; `undefined` after the page was loaded anew. */
export function registeredNow(queryClient: QueryClient, id: string): EndpointWithSecret | undefined {
  return queryClient.getQueryData(['registered', id]);
}

/** Page of an endpoint right after its registration: its secret or public key, and whether it has been verified. */
export function Registered({ endpoint }: { endpoint: EndpointWithSecret }) {
  const { name } = useLook();
  return (
    <>
      <PageHead
        title="The endpoint is registered"
        crumbs={<To page="endpoints">Endpoints</To>}
        about={nameOfEndpoint(endpoint)}
        actions={
          <To page="endpoints/$id" id={endpoint.id} className="button primary">
            Go to the endpoint
          </To>
        }
      />
      <Verification id={endpoint.id} />
      <Card title={endpoint.secret ? 'Signing secret' : 'Public key'}>
        <div className="stack">
          <p>
            Your application checks with it that a delivery comes from {name}.
            {endpoint.secret && ' Keep it like a password.'}
          </p>
          <SecretBox keys={endpoint} />
          <VerifyCode scheme={endpoint.signature_scheme} secret={endpoint.secret} />
        </div>
      </Card>
    </>
  );
}
