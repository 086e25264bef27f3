import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import { exampleOf } from '../../parts/kinds/example.js';
import { fieldsOf } from '../../parts/kinds/fields.js';
import { Card, PageHead } from '../../shell/page.js';
import { Badge } from '../../ui/badge.js';
import { Code, toPrettyJson } from '../../ui/copy.js';
import { To } from '../../ui/link.js';
import { Loaded } from '../../ui/states.js';
import { SendExample } from './send-example.js';

/** The page of one event kind: its fields, an example, its schema. */
export function Kind() {
  const { id: name } = useParams({ strict: false }) as { id: string };
  const kind = useQuery({
    queryKey: ['kind', name],
    queryFn: () => api.get('/v18.0/event_kinds/{name}', { params: { path: { name } } }),
  });
  return (
    <Loaded query={kind} lines={10} page>
      {(data) => (
        <>
          <PageHead
            title={data.name}
            crumbs={<To page="kinds">Event catalogue</To>}
            about={`${data.description} Version ${data.version}.`}
            actions={
              <>
                <SendExample kind={data} />
                <To page="deliveries" search={{ event_kind: data.name }} className="button">
                  Deliveries of this kind
                </To>
              </>
            }
          />
          <div className="columns halves">
            <Card title="Fields" bare>
              <Fields schema={data.schema} />
            </Card>
            <div className="stack">
              <Card title="Example">
                <Code text={toPrettyJson(exampleOf(data.schema))} name="the example" />
              </Card>
              <Card title="JSON Schema">
                <Code text={toPrettyJson(data.schema)} name="the schema" />
              </Card>
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

function Fields({ schema }: { schema: Record<string, unknown> }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {fieldsOf(schema).map((field) => (
          <tr key={field.path}>
            <td>
              <code className="nowrap">{field.path}</code>
              {!field.required && <div className="muted small">optional</div>}
            </td>
            <td>
              {field.type}{' '}
              {field.isKey && (
                <Badge tone="info" plain>
                  business key
                </Badge>
              )}
              <div className="muted">{field.description}</div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
