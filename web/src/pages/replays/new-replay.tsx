import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Replay, ReplayPreview, Schemas } from '../../api/types.js';
import { FilterBar } from '../../parts/deliveries/filter/filter-bar.js';
import { type DeliveryFilters, readDeliveryFilters } from '../../parts/deliveries/filters.js';
import { CHOICES, type Choice } from '../../parts/replays/describe.js';
import { Card, PageHead } from '../../shell/page.js';
import { TextField } from '../../ui/field.js';
import { To, useRole } from '../../ui/link.js';
import { Failed } from '../../ui/states.js';
import { useAct } from '../../ui/use-act.js';
import { Preview } from './preview.js';

const DAY_MS = 86_400_000;
const DEFAULT_RATE = 20;

/** The page that begins a replay: what it is to do, a dry run, and then the act itself. */
export function NewReplay() {
  const search = useSearch({ strict: false }) as DeliveryFilters & { choice?: string };
  const role = useRole();
  const navigate = useNavigate();
  const { act, busy } = useAct();
  const [choice, setChoice] = useState<Choice>(
    CHOICES.find(({ id }) => id === search.choice)?.id ?? 'failed',
  );
  const [filters, setFilters] = useState<DeliveryFilters>(() => readDeliveryFilters({ ...search }));
  const [registration, setRegistration] = useState<'now' | 'then'>('now');
  const [rate, setRate] = useState(String(DEFAULT_RATE));
  const [reason, setReason] = useState('');
  const [result, setResult] = useState<{ preview?: ReplayPreview; error?: Error }>({});
  /** Whether the settings have changed since the preview was counted. */
  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setResult({});
      set(value);
    };

  const { action, mode, hint } = CHOICES.find(({ id }) => id === choice) ?? CHOICES[0];
  const missed = mode === 'missed';
  const body = (dryRun: boolean): Schemas['CreateReplayBody'] => {
    const { status, ...rest } = filters;
    const since = new Date(Date.now() - DAY_MS).toISOString();
    return {
      action,
      ...(mode && { mode }),
      filter: {
        ...rest,
        ...(status && !missed && { status }),
        ...(missed && { created_after: filters.created_after ?? since }),
      } as never,
      ...(missed && { registration }),
      rate: Number(rate),
      dry_run: dryRun,
      ...(reason !== '' && !dryRun && { reason }),
    };
  };
  const count = () =>
    act(() => api.post('/v18.0/replays', { body: body(true) }), undefined, { quiet: true }).then(
      (preview) => setResult({ preview: preview as ReplayPreview }),
      (error: Error) => setResult({ error }),
    );
  const start = () =>
    act(() => api.post('/v18.0/replays', { body: body(false) }), 'The replay has begun.', {
      quiet: true,
    }).then(
      (replay) =>
        void navigate({ to: '/$role/replays/$id', params: { role, id: (replay as Replay).id } } as never),
      (error: Error) => setResult({ error }),
    );

  return (
    <>
      <PageHead
        title="New replay"
        crumbs={<To page="replays">Replays</To>}
        about="Choose what is to be done, and see first how many deliveries it would act on."
      />
      <Card>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void count();
          }}
        >
          <fieldset className="field">
            <legend>What to do</legend>
            <div className="choices">
              {CHOICES.map(({ id, name }) => (
                <label key={id} className="choice">
                  <input
                    type="radio"
                    name="choice"
                    checked={choice === id}
                    onChange={() => changed(setChoice)(id)}
                  />
                  {name}
                </label>
              ))}
            </div>
            <div className="hint">{hint}</div>
          </fieldset>
          <div className="stack tight">
            <h2>Of which deliveries</h2>
            <FilterBar filters={filters} change={changed(setFilters)} without={missed ? ['status'] : []} />
            {missed && (
              <p className="muted small">
                Choose the endpoint. Without a time, it is what was accepted in the last 24 hours.
              </p>
            )}
          </div>
          {missed && (
            <fieldset className="field">
              <legend>Which registration decides</legend>
              <div className="choices">
                {(['now', 'then'] as const).map((each) => (
                  <label key={each} className="choice">
                    <input
                      type="radio"
                      name="registration"
                      checked={registration === each}
                      onChange={() => changed(setRegistration)(each)}
                    />
                    {each === 'now' ? 'As it is now' : 'As it was when each event was accepted'}
                  </label>
                ))}
              </div>
            </fieldset>
          )}
          <div className="filters">
            <TextField
              label="Deliveries per second"
              type="number"
              min={1}
              max={500}
              value={rate}
              set={setRate}
            />
            <TextField label="Reason, recorded with it" maxLength={300} value={reason} set={setReason} />
          </div>
          {result.error && <Failed error={result.error} />}
          {result.preview && <Preview preview={result.preview} />}
          <div className="row">
            <button type="submit" className={result.preview ? 'button' : 'button primary'} disabled={busy}>
              {result.preview ? 'Count again' : 'Dry run'}
            </button>
            {result.preview && result.preview.found > 0 && (
              <button type="button" className="button primary" disabled={busy} onClick={() => void start()}>
                Do it: {result.preview.found} {result.preview.found === 1 ? 'delivery' : 'deliveries'}
              </button>
            )}
          </div>
        </form>
      </Card>
    </>
  );
}
