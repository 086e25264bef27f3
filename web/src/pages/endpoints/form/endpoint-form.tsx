import { useState } from 'react';
import { HooklineError } from '../../../api/client.js';
import type { Endpoint } from '../../../api/types.js';
import { useKinds } from '../../../parts/kinds/use-kinds.js';
import { toPrettyJson } from '../../../ui/copy.js';
import { TextField } from '../../../ui/field.js';
import { Failed } from '../../../ui/states.js';
import type { Scheme } from '../secret/schemes.js';
import { isPlainHttp, isPrivateUrl, mistakeInUrl } from './check-url.js';
import { type DeliveryOptions, optionsOf, parseOptions } from './delivery-options.js';
import { FilterField } from './filter-field.js';
import { MoreSettings, type MoreTexts } from './more-settings.js';
import { formatNamedValues, parseNamedValues, parseWaits } from './named-values.js';
import { parseFilter } from './parse-filter.js';

/** Input that the form sends: empty fields are absent. */
export interface EndpointInput extends DeliveryOptions {
  target_url: string;
  event_kinds: string[];
  description: string;
  filter?: Record<string, unknown>;
  rate_limit?: number;
  headers?: Record<string, string>;
  metadata?: Record<string, string>;
  retry_schedule?: string[];
  ordering?: 'key' | 'endpoint';
  order_skip?: 'exhausted';
  order_skip_after?: string;
  /** Scheme of a new endpoint. */
  signature_scheme?: Scheme;
}

/** The settings of an endpoint, new or as they are. Fields that the service refuses say why. */
export function EndpointForm({
  endpoint,
  action,
  send,
}: {
  endpoint?: Endpoint;
  action: string;
  send: (input: EndpointInput) => Promise<unknown>;
}) {
  const [url, setUrl] = useState(endpoint?.target_url ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [kinds, setKinds] = useState<readonly string[]>(endpoint?.event_kinds ?? ['*']);
  const [filter, setFilter] = useState(endpoint?.filter ? toPrettyJson(endpoint.filter) : '');
  const [rate, setRate] = useState(endpoint?.rate_limit === undefined ? '' : String(endpoint.rate_limit));
  const [more, setMore] = useState<MoreTexts>(() => ({
    headers: formatNamedValues(endpoint?.headers),
    metadata: formatNamedValues(endpoint?.metadata),
    waits: endpoint?.retry_schedule?.join(', ') ?? '',
    options: toText(optionsOf(endpoint)),
    scheme: 'v1',
    ordering: endpoint?.ordering ?? 'none',
    skip: endpoint?.order_skip ?? 'never',
    skipAfter: endpoint?.order_skip_after ?? '',
  }));
  const [state, setState] = useState<{ busy?: boolean; error?: Error }>({});
  const refused = (pointer: string) =>
    state.error instanceof HooklineError
      ? state.error.errors.find((each) => each.pointer === pointer || each.pointer?.startsWith(`${pointer}/`))
          ?.detail
      : undefined;
  const urlMistake = mistakeInUrl(url);
  const parsed = parseFilter(filter);
  const headers = parseNamedValues(more.headers);
  const metadata = parseNamedValues(more.metadata);
  const waits = parseWaits(more.waits);
  const sent = parseOptions(more.options);
  const mistakes = [urlMistake, parsed.mistake, headers.mistake, metadata.mistake, sent.mistake];
  const isRight = mistakes.every((mistake) => mistake === undefined);

  const submit = () => {
    setState({ busy: true });
    send({
      target_url: url.trim(),
      event_kinds: [...kinds],
      description,
      ...(parsed.filter && { filter: parsed.filter as Record<string, unknown> }),
      ...(rate !== '' && { rate_limit: Number(rate) }),
      headers: headers.values,
      metadata: metadata.values,
      ...(waits.length > 0 && { retry_schedule: waits }),
      ...sent.options,
      ...orderIn(more),
      ...(!endpoint && { signature_scheme: more.scheme }),
    }).then(
      () => setState({}),
      (error: Error) => setState({ error }),
    );
  };

  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (url !== '' && isRight && kinds.length > 0) submit();
      }}
    >
      <TextField
        label="URL"
        hint={
          isPlainHttp(url)
            ? 'Over plain http anybody on the way can read and change what is sent. Most installations take https alone.'
            : 'Where events are posted, such as https://example.com/webhooks'
        }
        mistake={refused('/target_url') ?? urlMistake}
        fine={
          url !== '' && !urlMistake && !isPlainHttp(url) && !isPrivateUrl(url)
            ? 'Looks good. It is checked when you save.'
            : undefined
        }
        code
        type="url"
        inputMode="url"
        autoComplete="off"
        required
        value={url}
        set={(next) => {
          setUrl(next);
          setState({});
        }}
      />
      <TextField
        label="Description"
        hint="What you call it. Shown instead of the URL."
        mistake={refused('/description')}
        maxLength={1_000}
        value={description}
        set={setDescription}
      />
      <KindChoice kinds={kinds} change={setKinds} mistake={refused('/event_kinds')} />
      <FilterField text={filter} chosen={kinds} change={setFilter} mistake={refused('/filter')} />
      <TextField
        label="Deliveries per second, at most"
        hint="Empty: no limit. Others wait for their turn; none is dropped."
        mistake={refused('/rate_limit')}
        type="number"
        min="0.01"
        max="1000"
        step="any"
        value={rate}
        set={setRate}
      />
      <MoreSettings
        texts={more}
        change={(next) => setMore((before) => ({ ...before, ...next }))}
        refused={refused}
        isNew={endpoint === undefined}
      />
      {state.error && <Failed error={state.error} />}
      <div>
        <button type="submit" className="button primary" disabled={state.busy}>
          {action}
        </button>
      </div>
    </form>
  );
}

function toText(options: DeliveryOptions): string {
  return Object.keys(options).length > 0 ? toPrettyJson(options) : '';
}

function orderIn({ ordering, skip, skipAfter }: MoreTexts): Partial<EndpointInput> {
  if (ordering === 'none') return {};
  return {
    ordering,
    ...(skip !== 'never' && { order_skip: skip }),
    ...(skipAfter.trim() !== '' && { order_skip_after: skipAfter.trim() }),
  };
}

function KindChoice({
  kinds,
  change,
  mistake,
}: {
  kinds: readonly string[];
  change: (kinds: readonly string[]) => void;
  mistake: string | undefined;
}) {
  const known = useKinds().data?.map(({ name }) => name) ?? [];
  const all = kinds.includes('*');
  // Families such as `order.*`, which the catalogue does not list, stay as they are.
  const names = [...new Set([...known, ...kinds.filter((kind) => kind !== '*')])];
  return (
    <fieldset className="field">
      <legend>Event kinds</legend>
      <div className="choices">
        <label className="choice">
          <input type="checkbox" checked={all} onChange={() => change(all ? [] : ['*'])} />
          All, also those to come
        </label>
        {!all &&
          names.map((name) => (
            <label key={name} className="choice">
              <input
                type="checkbox"
                checked={kinds.includes(name)}
                onChange={({ target: { checked } }) =>
                  change(checked ? [...kinds, name] : kinds.filter((kind) => kind !== name))
                }
              />
              {name}
            </label>
          ))}
      </div>
      <div className={mistake || kinds.length === 0 ? 'mistake' : 'hint'}>
        {mistake ??
          (kinds.length === 0
            ? 'Choose at least one.'
            : 'Operational kinds, such as endpoint.failing, are chosen one by one.')}
      </div>
    </fieldset>
  );
}
