import { Button, Callout, TextArea } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { CopyButton } from '../kit/CopyButton.js';
import { saveFile } from '../kit/saveFile.js';
import { useText } from '../kit/words/i18n.js';
import { redemptionTexts } from './redemption.texts.js';
import { fileName } from './redemptionDraft.js';

interface MadeCodesProps {
  readonly name: string;
  readonly codes: readonly string[];
  /** Why there are no more; undefined: there are as many as were wanted. */
  readonly problem?: string;
}

const textFile = (codes: readonly string[]): Blob => new Blob([`${codes.join('\n')}\n`], { type: 'text/plain' });

/** What has come of an order, to be taken away. */
export function MadeCodes({ name, codes, problem }: MadeCodesProps) {
  const t = useText(redemptionTexts);
  const text = codes.join('\n');
  return (
    <>
      <Callout compact intent={problem === undefined ? 'success' : 'warning'} role="status">
        {problem ?? t('made.title', { count: codes.length })}
      </Callout>
      <TextArea
        fill
        readOnly
        rows={Math.min(12, codes.length + 1)}
        value={text}
        className="monospace-input"
        aria-label={t('made.codes')}
      />
      <div className="made-codes-actions">
        <Button
          icon={<Download />}
          text={t('made.download')}
          onClick={() => saveFile(fileName(name, Date.now() / 1000), textFile(codes))}
        />
        <CopyButton text={text} caption={t('made.copy')} />
      </div>
    </>
  );
}
