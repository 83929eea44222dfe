import { Button, Dialog, DialogBody, DialogFooter, FormGroup, InputGroup, type Intent } from '@blueprintjs/core';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';

export interface Question {
  readonly title: string;
  readonly body?: ReactNode;
  /** What the confirming button says; a verb. */
  readonly confirm: string;
  readonly intent?: Intent;
  /** Has to be typed before the button works: for what cannot be undone. */
  readonly typed?: string;
}

interface ConfirmTypedProps extends Question {
  readonly isOpen: boolean;
  readonly onAnswer: (confirmed: boolean) => void;
}

/**
 * Asks before something happens. `useConfirm` is the way to it. No button has the focus at first: asked by an Enter, it
 * would be pressed by the release of the same key.
 */
export function ConfirmTyped({ isOpen, onAnswer, title, body, confirm, intent = 'danger', typed }: ConfirmTypedProps) {
  const t = useText(commonTexts);
  const [text, setText] = useState('');
  const input = useId();
  const ready = typed === undefined || text === typed;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (ready) onAnswer(true);
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={() => onAnswer(false)}
      onOpening={() => setText('')}
      title={title}
      className="confirm-dialog"
      shouldReturnFocusOnClose
    >
      <form onSubmit={submit}>
        <DialogBody>
          {body}
          {typed !== undefined && (
            <FormGroup label={t('confirm.type', { text: typed })} labelFor={input} className="confirm-typed">
              <InputGroup id={input} value={text} onValueChange={setText} autoComplete="off" autoFocus />
            </FormGroup>
          )}
        </DialogBody>
        <DialogFooter
          actions={
            <>
              <Button text={t('cancel')} onClick={() => onAnswer(false)} />
              <Button type="submit" intent={intent} text={confirm} disabled={!ready} />
            </>
          }
        />
      </form>
    </Dialog>
  );
}
