import { useState } from 'react';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import { JsonField } from './JsonField.js';
import { objectIn, withMember } from './jsonDraft.js';

const member = 'purchase_prices';
const example = '{"gpt-4o": {"input": 2.5, "cached_input": 1.25, "output": 10}, "*": {"call": 0.01}}';

interface PurchasePricesFieldProps {
  /** The channel's setting, a JSON object as text. */
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** What the channel's provider charges: a member of its setting, typed as JSON of its own. */
export function PurchasePricesField({ value, onChange }: PurchasePricesFieldProps) {
  const t = useText(channelsTexts);
  const [typed, setTyped] = useState<string | null>(null);
  const settings = objectIn(value);
  const stored = settings?.[member];
  // What is typed stays as it is typed, also while it is no JSON, until the setting says something else.
  const draft = typed === null ? null : objectIn(typed);
  const isCurrent = typed !== null && (draft === null || JSON.stringify(draft) === JSON.stringify(stored ?? {}));
  const shown = isCurrent ? typed : stored === undefined ? '' : JSON.stringify(stored, null, 2);
  return (
    <JsonField
      label={t(`setting.${member}`)}
      hint={t(`setting.${member}.hint`)}
      placeholder={example}
      disabled={settings === null}
      value={shown}
      onChange={(text) => {
        setTyped(text);
        const prices = objectIn(text);
        const whole = prices && withMember(value, member, Object.keys(prices).length > 0 ? prices : undefined);
        if (whole !== null) onChange(whole);
      }}
    />
  );
}
