import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.js';
import type { EndpointWithSecret } from '../../../api/types.js';
import { nameOfEndpoint } from '../../../parts/endpoints/names.js';
import { useLook } from '../../../shell/look/use-look.js';
import { Card, PageHead } from '../../../shell/page.js';
import { To } from '../../../ui/link.js';
import { SecretBox } from '../secret/secret.js';
import { VerifyCode } from '../secret/verify-code.js';
import { Verification } from '../verification.js';
import { EndpointForm } from './endpoint-form.js';

/** The page that registers an endpoint, and then shows its secret and whether it has been verified. */
export function NewEndpoint() {
  const queryClient = useQueryClient();
  const [made, setMade] = useState<EndpointWithSecret>();
  if (made) return <Registered endpoint={made} />;
  return (
    <>
      <PageHead
        title="Register an endpoint"
        crumbs={<To page="endpoints">Endpoints</To>}
        about="The URL may first be asked whether it wants events; none is sent before it has said so."
      />
      <Card>
        <EndpointForm
          action="Register"
          send={async (body) => {
            const endpoint = await api.post('/v18.0/endpoints', { body: body as never });
            await queryClient.invalidateQueries({ queryKey: ['endpoints'] });
            setMade(endpoint);
          }}
        />
      </Card>
    </>
  );
}

function Registered({ endpoint }: { endpoint: EndpointWithSecret }) {
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
      <Card title="Signing secret">
        <div className="stack">
          <p>Your application checks with it that a delivery comes from {name}. Keep it like a password.</p>
          <SecretBox keys={endpoint} />
          <VerifyCode keys={endpoint} />
        </div>
      </Card>
    </>
  );
}
