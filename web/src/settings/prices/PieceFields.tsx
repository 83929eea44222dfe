import { Button } from '@blueprintjs/core';
import { Add, Cross } from '@blueprintjs/icons';
import { useText } from '../../kit/words/i18n.js';
import { PriceInput } from './PriceInput.js';
import { type PeriodPartProps, replaced, without } from './periodPart.js';
import { type PictureDraft, pieceFields, type RatesDraft } from './priceDraft.js';
import { pricesTexts } from './prices.texts.js';
import { useQuantityName } from './priceWords.js';

const withPiece = (rates: RatesDraft, name: string, text: string): RatesDraft => ({
  ...rates,
  pieces: { ...rates.pieces, [name]: text },
});

/** What is sold by the piece, the second and the like, beside the tokens. */
export function PieceFields({ period, path, problem, onChange }: PeriodPartProps) {
  const t = useText(pricesTexts);
  const nameOf = useQuantityName();
  return (
    <div className="price-grid">
      <span className="price-grid-head">{t('grid.quantity')}</span>
      <span className="price-grid-head">{t('grid.selling')}</span>
      <span className="price-grid-head">{t('grid.purchase')}</span>
      <span className="price-grid-head price-grid-margin" />
      {pieceFields(period).map((name) => (
        <div key={name} className="price-grid-row">
          <span className="price-grid-name">{nameOf(name)}</span>
          <PriceInput
            label={t('field.selling', { name: nameOf(name) })}
            value={period.selling.pieces[name] ?? ''}
            unit="$"
            path={`${path}.pieces.${name}`}
            problem={problem}
            onChange={(text) => onChange({ ...period, selling: withPiece(period.selling, name, text) })}
          />
          <PriceInput
            label={t('field.purchase', { name: nameOf(name) })}
            value={period.purchase.pieces[name] ?? ''}
            unit="$"
            path={`${path}.purchase.pieces.${name}`}
            problem={problem}
            onChange={(text) => onChange({ ...period, purchase: withPiece(period.purchase, name, text) })}
          />
          <span className="price-grid-margin" />
        </div>
      ))}
    </div>
  );
}

const noPicture: PictureDraft = { size: '', quality: '', usd: '' };

/** Pictures that are made, by size and quality; on both sides. */
export function PictureFields(props: PeriodPartProps) {
  const t = useText(pricesTexts);
  return (
    <>
      <p className="price-note">{t('pictures.note')}</p>
      <PictureList {...props} side="selling" />
      <PictureList {...props} side="purchase" />
    </>
  );
}

function PictureList({
  period,
  path,
  problem,
  onChange,
  side,
}: PeriodPartProps & { readonly side: 'selling' | 'purchase' }) {
  const t = useText(pricesTexts);
  const { pictures } = period[side];
  const at = side === 'selling' ? `${path}.pictures` : `${path}.purchase.pictures`;
  const change = (next: readonly PictureDraft[]): void =>
    onChange({ ...period, [side]: { ...period[side], pictures: next } });
  return (
    <fieldset className="price-list">
      <legend>{t(`pictures.${side}`)}</legend>
      {pictures.map((picture, index) => {
        const label = (field: 'size' | 'quality' | 'usd'): string =>
          t(`pictures.${field}`, { side: t(`grid.${side}`), place: index + 1 });
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a picture has no name but its place
          <div key={index} className="price-list-row">
            {(['size', 'quality', 'usd'] as const).map((field) => (
              <PriceInput
                key={field}
                label={label(field)}
                value={picture[field]}
                unit={field === 'usd' ? '$' : undefined}
                placeholder={field === 'usd' ? undefined : t(`pictures.any.${field}`)}
                path={`${at}[${index}].${field}`}
                problem={problem}
                onChange={(text) => change(replaced(pictures, index, { ...picture, [field]: text }))}
              />
            ))}
            <Button
              variant="minimal"
              size="small"
              icon={<Cross />}
              aria-label={t('pictures.remove', { side: t(`grid.${side}`), place: index + 1 })}
              onClick={() => change(without(pictures, index))}
            />
          </div>
        );
      })}
      <Button
        size="small"
        icon={<Add />}
        text={t('pictures.add')}
        aria-label={`${t('pictures.add')}: ${t(`grid.${side}`)}`}
        onClick={() => change([...pictures, noPicture])}
      />
    </fieldset>
  );
}
