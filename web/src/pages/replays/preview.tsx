import type { ReplayPreview } from '../../api/types.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { Time } from '../../ui/time.js';

/** Counts of a dry run. */
export function Preview({ preview }: { preview: ReplayPreview }) {
  const { found, skipped, sample, complete, up_to, never_sent, difference } = preview;
  return (
    <div className={found === 0 ? 'notice' : 'notice info'} role="status">
      <div className="stack tight">
        <strong>
          {found === 0
            ? 'It would act on nothing.'
            : `It would act on ${complete ? '' : 'at least '}${formatCount(found)} deliveries.`}
        </strong>
        {!complete && (
          <p>
            Counting took too long; it came up to <Time at={up_to} />.
          </p>
        )}
        {skipped > 0 && (
          <p>{formatCount(skipped)} of them would be skipped, as their endpoint was deleted.</p>
        )}
        {never_sent !== undefined && (
          <p>{formatCount(never_sent)} of them were never sent to the endpoint.</p>
        )}
        {difference && (difference.added.count > 0 || difference.left_out.count > 0) && (
          <p>
            Compared with the registration{' '}
            {difference.compared_with === 'then' ? 'as it was then' : 'as it is now'}:{' '}
            {formatCount(difference.added.count)} more, {formatCount(difference.left_out.count)} fewer.
          </p>
        )}
        {sample.length > 0 && never_sent === undefined && (
          <details>
            <summary>The first of them</summary>
            <ul>
              {sample.map((id) => (
                <li key={id}>
                  <To page="deliveries/$id" id={id}>
                    <code className="wrap">{id}</code>
                  </To>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </div>
  );
}
