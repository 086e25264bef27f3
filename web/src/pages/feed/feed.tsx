import { api } from '../../api/client.js';
import type { FeedConsumer } from '../../api/types.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { List, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { DeleteConsumer, MoveConsumer } from './consumer-actions.js';

/** The page of the feed's consumers. */
export function Feed() {
  const mayWrite = useMay('deliveries:write');
  const list = useList<FeedConsumer>(['feed_consumers'], () => api.get('/v18.0/feed/consumers'), true);
  return (
    <>
      <PageHead
        title="Feed"
        about="Systems that read events from the feed at their own pace: the name under which each keeps its position, and how far it has read."
      />
      <Card title="Consumers" bare>
        <List
          list={list}
          empty={
            <Empty title="No consumers yet">
              <p>
                A consumer is made when a reader commits its first position, as{' '}
                <code>hookline feed --follow --consumer warehouse</code> does.
              </p>
            </Empty>
          }
        >
          {(rows) => (
            <Table
              head={['Consumer', 'Read up to', 'Committed', mayWrite && { name: 'Actions', right: true }]}
            >
              {rows.map((consumer) => (
                <tr key={consumer.name}>
                  <td>
                    <strong className="wrap">{consumer.name}</strong>
                  </td>
                  <td>
                    {consumer.up_to === undefined ? 'Nothing yet' : <Time at={consumer.up_to} />}
                    <div className="muted small">
                      <code className="wrap">{consumer.position}</code>
                    </div>
                  </td>
                  <td className="muted">
                    <Time at={consumer.updated_at} show="relative" />
                  </td>
                  {mayWrite && (
                    <td className="right">
                      <MoveConsumer consumer={consumer} /> <DeleteConsumer consumer={consumer} />
                    </td>
                  )}
                </tr>
              ))}
            </Table>
          )}
        </List>
      </Card>
    </>
  );
}
