import { type ChangeEvent, useId, useState } from 'react';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { useText } from '../../kit/words/i18n.js';
import { otherPricesTexts } from './otherPrices.texts.js';

/** What a gateway takes; looked at before a file is read. */
const maxFileBytes = 640 * 1024;

export interface PriceFile {
  readonly name: string;
  readonly text: string;
}

interface PriceFileFieldProps {
  /** null: none is chosen; too-large: one that no gateway takes. */
  readonly onChoose: (file: PriceFile | 'too-large' | null) => void;
}

/** A price table in a file, read where it is chosen. */
export function PriceFileField({ onChoose }: PriceFileFieldProps) {
  const t = useText(otherPricesTexts);
  const id = useId();
  const [isTooLarge, setTooLarge] = useState(false);
  const choose = async ({ currentTarget }: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const chosen = currentTarget.files?.[0];
    const tooLarge = chosen !== undefined && chosen.size > maxFileBytes;
    setTooLarge(tooLarge);
    onChoose(tooLarge ? 'too-large' : null);
    if (chosen === undefined || tooLarge) return;
    const text = await chosen.text();
    // Another one may have been chosen since.
    if (currentTarget.files?.[0] === chosen) onChoose({ name: chosen.name, text });
  };
  return (
    <div>
      <label htmlFor={id}>{t('prices')}</label>
      <input
        id={id}
        className="other-prices-file"
        type="file"
        accept="application/json,.json"
        aria-describedby={`${id}-hint`}
        onChange={(event) => void choose(event)}
      />
      <p id={`${id}-hint`} className="section-note">
        {t('prices.hint')}
      </p>
      <FormProblem text={isTooLarge ? t('prices.tooLarge') : null} />
    </div>
  );
}
