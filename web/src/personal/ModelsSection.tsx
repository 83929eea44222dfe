import { Button, Tag } from '@blueprintjs/core';
import { useState } from 'react';
import { useCopy } from '../kit/CopyProvider.js';
import { Section } from '../kit/Section.js';
import { useText } from '../kit/words/i18n.js';
import { personalTexts } from './personal.texts.js';

/** Shown before the rest is asked for. */
const shownAtFirst = 10;

export function ModelsSection({ models }: { readonly models: readonly string[] }) {
  const t = useText(personalTexts);
  const copy = useCopy();
  const [all, setAll] = useState(false);
  const shown = all ? models : models.slice(0, shownAtFirst);
  const hidden = models.length - shownAtFirst;
  return (
    <Section title={t('models.title')}>
      {models.length === 0 ? (
        <p className="section-note">{t('models.none')}</p>
      ) : (
        <div className="personal-tags">
          {shown.map((model) => (
            <Tag key={model} minimal interactive onClick={() => void copy(model)}>
              {model}
            </Tag>
          ))}
        </div>
      )}
      {hidden > 0 && (
        <Button
          variant="minimal"
          size="small"
          aria-expanded={all}
          text={all ? t('models.fewer') : t('models.more', { count: hidden })}
          onClick={() => setAll(!all)}
        />
      )}
    </Section>
  );
}
