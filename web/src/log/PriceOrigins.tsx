import { useMemo } from 'react';
import { Link } from 'react-router-dom';
import { isRoot, useSignedIn } from '../kit/SessionProvider.js';
import type { Column } from '../kit/table/columns.js';
import { addressOf, itemOf } from '../kit/table/openItem.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { formatTime } from '../kit/time.js';
import { type Translate, useText } from '../kit/words/i18n.js';
import { useQuantityText } from '../kit/words/useQuantityText.js';
import type { ShownCall } from './CallPage.js';
import { callTexts } from './call.texts.js';
import type { callZh } from './call.zh.js';
import { factorText, optionText } from './priceFactor.js';

type Origin = ShownCall['priceOrigins'][number];

/** Every factor of the price, the option that it stands in, and who set it. */
export function PriceOrigins({ origins }: { readonly origins: readonly Origin[] }) {
  const t = useText(callTexts);
  const quantity = useQuantityText();
  const root = isRoot(useSignedIn());
  const columns = useMemo<readonly Column<Origin>[]>(
    () => [
      {
        id: 'factor',
        header: t('origin.factor'),
        heading: true,
        cell: ({ factor }) => factorText(factor, t, quantity),
      },
      { id: 'value', header: t('origin.value'), align: 'end', cell: ({ value }) => value },
      {
        id: 'option',
        header: t('origin.option'),
        cell: ({ option, entry, inRecord }) =>
          inRecord ? t('origin.record') : option !== null && <code>{optionText(option, entry)}</code>,
      },
      { id: 'setBy', header: t('origin.setBy'), cell: (origin) => <SetBy origin={origin} root={root} t={t} /> },
    ],
    [t, quantity, root],
  );
  return (
    <div className="billing-lines">
      <ResourceTable label={t('price')} columns={columns} rows={origins} rowKey={({ factor }) => factor} />
    </div>
  );
}

interface SetByProps {
  readonly origin: Origin;
  readonly root: boolean;
  readonly t: Translate<typeof callZh>;
}

function SetBy({ origin: { kind, since, by, option }, root, t }: SetByProps) {
  if (kind !== 'CHANGED' || since === null) return t(kind === 'BUILT_IN' ? 'origin.builtIn' : 'origin.unknown');
  const at = formatTime(since);
  const said = by ? t('origin.by', { name: by.username, at }) : t('origin.since', { at });
  if (!root || option === null) return said;
  return <Link to={addressOf('/setting', itemOf('history', option))}>{said}</Link>;
}
