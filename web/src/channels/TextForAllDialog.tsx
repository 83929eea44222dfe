import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { TextField } from '../kit/form/Fields.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';

interface TextForAllDialogProps {
  readonly title: string;
  readonly label: string;
  readonly hint: string;
  /** What is wrong with a text; undefined: nothing. */
  readonly problemOf: (text: string) => string | undefined;
  readonly onCancel: () => void;
  readonly onSubmit: (text: string) => Promise<void>;
}

/** Asks for one text that many channels get. */
export function TextForAllDialog({ title, label, hint, problemOf, onCancel, onSubmit }: TextForAllDialogProps) {
  const common = useText(commonTexts);
  const [text, setText] = useState('');
  const [judged, setJudged] = useState(false);
  const [busy, setBusy] = useState(false);
  const problem = problemOf(text.trim());
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setJudged(true);
    if (problem !== undefined || busy) return;
    setBusy(true);
    void onSubmit(text.trim()).finally(() => setBusy(false));
  };
  return (
    <Dialog isOpen onClose={onCancel} title={title} shouldReturnFocusOnClose>
      <form onSubmit={submit} noValidate>
        <DialogBody>
          <TextField
            label={label}
            hint={hint}
            required
            autoFocus
            value={text}
            onChange={setText}
            error={judged ? problem : undefined}
          />
        </DialogBody>
        <DialogFooter
          actions={
            <>
              <Button text={common('cancel')} onClick={onCancel} />
              <Button type="submit" intent="primary" text={common('confirm')} loading={busy} />
            </>
          }
        />
      </form>
    </Dialog>
  );
}
