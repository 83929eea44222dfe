import { Button } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { useState } from 'react';
import { useExports } from '../kit/export/useExports.js';
import { SelectField } from '../kit/form/Fields.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { Section } from '../kit/Section.js';
import { useSignedIn } from '../kit/SessionProvider.js';
import { ownTimeZone } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { walletExportTexts } from './export.texts.js';
import { monthsSince, usualMonth } from './exportMonths.js';

const files = ['usage', 'statement'] as const;

/** A month, to be kept: its calls, and what changed the balance. */
export function ExportSection() {
  const t = useText(walletExportTexts);
  const { createdAt } = useSignedIn();
  const [chosen, setChosen] = useState<string | null>(null);
  const { underWay, problem, download } = useExports();

  const months = monthsSince(createdAt, Date.now() / 1000);
  const month = chosen ?? usualMonth(months);
  const zone = ownTimeZone();

  return (
    <Section title={t('title')}>
      <div>
        <SelectField
          label={t('month')}
          hint={t('note', { zone })}
          value={month}
          onChange={setChosen}
          options={months.map((value, index) => ({
            value,
            label: index === 0 ? t('month.current', { month: value }) : value,
          }))}
        />
        <FormProblem text={problem} />
        <div className="export-actions">
          {files.map((file) => (
            <Button
              key={file}
              icon={<Download />}
              text={t(file)}
              loading={underWay.has(file)}
              onClick={() => void download(file, { month, zone })}
            />
          ))}
        </div>
      </div>
    </Section>
  );
}
