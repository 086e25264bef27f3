import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../../api/client.js';
import { Card, PageHead } from '../../../shell/page.js';
import { To, useRole } from '../../../ui/link.js';
import { rememberRegistered } from '../registered.js';
import { EndpointForm } from './endpoint-form.js';

/** The page that registers an endpoint, and leads to what is shown of it then. */
export function NewEndpoint() {
  const queryClient = useQueryClient();
  const role = useRole();
  const navigate = useNavigate();
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
            rememberRegistered(queryClient, endpoint);
            void navigate({
              to: '/$role/endpoints/$id',
              params: { role, id: endpoint.id },
              search: { registered: true },
              replace: true,
            } as never);
          }}
        />
      </Card>
    </>
  );
}
