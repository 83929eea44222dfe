import { Button, Dialog, DialogBody, Radio, RadioGroup } from '@blueprintjs/core';
import { Help } from '@blueprintjs/icons';
import { useState } from 'react';
import { useText } from '../kit/words/i18n.js';
import { setupTexts } from './setup.texts.js';
import type { SetupForm } from './setupForm.js';

type Mode = SetupForm['mode'];

const modes = [
  { mode: 'EXTERNAL', name: 'external' },
  { mode: 'SELF', name: 'self' },
  { mode: 'DEMO', name: 'demo' },
] as const satisfies readonly { mode: Mode; name: string }[];

export function ModeChoice({ value, onChange }: { readonly value: Mode; readonly onChange: (mode: Mode) => void }) {
  const t = useText(setupTexts);
  const [explained, setExplained] = useState(false);
  return (
    <div className="mode-choice">
      <RadioGroup
        label={t('mode')}
        selectedValue={value}
        onChange={({ currentTarget }) => {
          const chosen = modes.find(({ mode }) => mode === currentTarget.value);
          if (chosen !== undefined) onChange(chosen.mode);
        }}
      >
        {modes.map(({ mode, name }) => (
          <Radio key={mode} value={mode}>
            {t(`mode.${name}`)} <span className="mode-short">{t(`mode.${name}.short`)}</span>
          </Radio>
        ))}
      </RadioGroup>
      <Button
        variant="minimal"
        size="small"
        icon={<Help />}
        text={t('mode.explain')}
        onClick={() => setExplained(true)}
      />
      <Dialog isOpen={explained} onClose={() => setExplained(false)} title={t('mode.explain')} shouldReturnFocusOnClose>
        <DialogBody>
          <dl className="mode-texts">
            {modes.map(({ mode, name }) => (
              <div key={mode}>
                <dt>{t(`mode.${name}`)}</dt>
                <dd>{t(`mode.${name}.text`)}</dd>
              </div>
            ))}
          </dl>
        </DialogBody>
      </Dialog>
    </div>
  );
}
