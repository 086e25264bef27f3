import { useKinds } from '../../parts/kinds/use-kinds.js';
import { Card, PageHead } from '../../shell/page.js';
import { Badge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';

/** The page of all event kinds. */
export function Kinds() {
  const kinds = useKinds();
  return (
    <>
      <PageHead
        title="Event catalogue"
        about="The kinds of events that endpoints can receive, and what is in them."
      />
      <Card bare>
        <Loaded query={kinds} lines={6}>
          {(rows) => (
            <Table head={['Kind', 'What happened', 'Version']}>
              {rows.map((kind) => (
                <tr key={kind.name} className="linked">
                  <td>
                    <To page="kinds/$id" id={kind.name} className="row-link">
                      {kind.name}
                    </To>{' '}
                    {kind.built_in && (
                      <Badge tone="" plain>
                        built in
                      </Badge>
                    )}
                  </td>
                  <td className="wide muted">{kind.description}</td>
                  <td className="number muted">{kind.version}</td>
                </tr>
              ))}
            </Table>
          )}
        </Loaded>
      </Card>
    </>
  );
}
