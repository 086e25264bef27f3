import { api } from '../../api/client.js';
import type { Replay } from '../../api/types.js';
import { ReplayTable } from '../../parts/replays/replay-table.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { To } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';

/** The page of all replays. */
export function Replays() {
  const list = useList<Replay>(
    ['replays'],
    (after) => api.get('/v18.0/replays', { params: { query: { limit: PAGE_SIZE, after } } }),
    true,
  );
  const make = useMay('deliveries:write') && (
    <To page="replays/new" className="button primary">
      New replay
    </To>
  );
  return (
    <>
      <PageHead
        title="Replays"
        about="Acts on many deliveries at once. They go on by themselves, whatever happens to this page."
        actions={make}
      />
      <Card bare>
        <List
          list={list}
          empty={
            <Empty title="No replays yet">
              <p>Send what failed again, or what an endpoint missed: first as a dry run that only counts.</p>
              {make}
            </Empty>
          }
        >
          {(rows) => <ReplayTable rows={rows} />}
        </List>
      </Card>
    </>
  );
}
