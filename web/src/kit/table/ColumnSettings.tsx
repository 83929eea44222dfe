import { Button, Checkbox, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { Settings } from '@blueprintjs/icons';
import { useState } from 'react';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';
import { type Column, choosable, initiallyChosen } from './columns.js';

interface ColumnSettingsProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly chosen: readonly string[];
  readonly onChoose: (ids: readonly string[]) => void;
}

/** A button, and the dialog behind it: which columns a table shows. Nothing changes before it is confirmed. */
export function ColumnSettings<Row>({ columns, chosen, onChoose }: ColumnSettingsProps<Row>) {
  const t = useText(commonTexts);
  const [draft, setDraft] = useState<readonly string[] | null>(null);
  const ids = choosable(columns).map(({ id }) => id);
  const close = (): void => setDraft(null);
  const ticked = draft ?? [];
  const toggle = (id: string): void =>
    setDraft(ticked.includes(id) ? ticked.filter((other) => other !== id) : [...ticked, id]);
  return (
    <>
      <Button
        variant="minimal"
        size="small"
        icon={<Settings size={14} />}
        title={t('column.settings')}
        aria-label={t('column.settings')}
        onClick={() => setDraft(chosen)}
      />
      <Dialog isOpen={draft !== null} onClose={close} title={t('column.settings')} shouldReturnFocusOnClose>
        <DialogBody>
          <Checkbox
            label={t('column.all')}
            checked={ids.every((id) => ticked.includes(id))}
            indeterminate={ticked.length > 0 && ticked.length < ids.length}
            onChange={() => setDraft(ticked.length < ids.length ? ids : [])}
          />
          <div className="column-choices">
            {choosable(columns).map(({ id, header }) => (
              <Checkbox key={id} label={header} checked={ticked.includes(id)} onChange={() => toggle(id)} />
            ))}
          </div>
        </DialogBody>
        <DialogFooter
          actions={
            <>
              <Button text={t('cancel')} onClick={close} />
              <Button
                intent="primary"
                text={t('confirm')}
                disabled={ticked.length === 0}
                onClick={() => {
                  onChoose(ticked);
                  close();
                }}
              />
            </>
          }
        >
          <Button text={t('reset')} onClick={() => setDraft(initiallyChosen(columns))} />
        </DialogFooter>
      </Dialog>
    </>
  );
}
