import { api } from '../../api/client.js';
import type { Erasure } from '../../api/types.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { EraseForm } from './erase-form.js';
import { ErasureBadge } from './erasure-badge.js';

/** The page of what was erased about people, and where an operator erases. */
export function Erasures() {
  const list = useList<Erasure>(
    ['erasures'],
    (after) => api.get('/v18.0/erasures', { params: { query: { limit: PAGE_SIZE, after } } }),
    true,
  );
  return (
    <>
      <PageHead
        title="Personal data"
        about="Erases the payloads of all events about a person, and the responses of endpoints, by deleting the key that opens them."
      />
      {useMay('subjects:write') && <EraseForm />}
      <Card title="Erasures" bare>
        <List
          list={list}
          empty={
            <Empty title="Nothing was erased yet">
              <p>Each erasure leaves a certificate here, which names nobody.</p>
            </Empty>
          }
        >
          {(rows) => (
            <Table head={['Erasure', 'Status', 'What it covers', 'Asked for by', 'When']}>
              {rows.map((erasure) => (
                <tr key={erasure.id} className="linked">
                  <td>
                    <To page="erasures/$id" id={erasure.id} className="row-link">
                      <code className="wrap">{erasure.id}</code>
                    </To>
                  </td>
                  <td>
                    <ErasureBadge status={erasure.status} />
                  </td>
                  <td className="wide muted">
                    {countOf(erasure.covered.events, 'event')},{' '}
                    {countOf(erasure.covered.deliveries, 'delivery', 'deliveries')}
                  </td>
                  <td className="wide muted small">
                    <code className="wrap">{erasure.requested_by}</code>
                  </td>
                  <td className="muted">
                    <Time at={erasure.requested_at} show="relative" />
                  </td>
                </tr>
              ))}
            </Table>
          )}
        </List>
      </Card>
    </>
  );
}

const countOf = (count: number, one: string, many = `${one}s`) =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
