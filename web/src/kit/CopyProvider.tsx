import { Classes, Dialog, DialogBody, TextArea } from '@blueprintjs/core';
import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react';
import { toaster } from './Toasts.js';
import { commonTexts } from './words/common.texts.js';
import { useText } from './words/i18n.js';

/** `name`: what is said to have been copied, in place of the text; for secrets. */
type Copy = (text: string, name?: string) => Promise<void>;

const CopyContext = createContext<Copy | null>(null);

/** Longer texts are named by their beginning. */
const maxShown = 80;
const named = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);

/** Once per application. Browsers refuse the clipboard to pages without TLS: then a dialog holds the text, selected. */
export function CopyProvider({ children }: { readonly children: ReactNode }) {
  const t = useText(commonTexts);
  const [byHand, setByHand] = useState<{ readonly text: string; readonly isOpen: boolean } | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const copy = useCallback<Copy>(
    async (text, name) => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        setByHand({ text, isOpen: true });
        return;
      }
      toaster.success(t('copied', { text: name ?? named(text) }));
    },
    [t],
  );
  return (
    <CopyContext value={copy}>
      {children}
      {byHand !== null && (
        <Dialog
          isOpen={byHand.isOpen}
          onClose={() => setByHand({ ...byHand, isOpen: false })}
          onOpened={() => field.current?.select()}
          title={t('copy.manually')}
          shouldReturnFocusOnClose
        >
          <DialogBody>
            <TextArea
              inputRef={field}
              readOnly
              fill
              rows={Math.min(12, byHand.text.split('\n').length + 1)}
              value={byHand.text}
              className={Classes.MONOSPACE_TEXT}
              aria-label={t('copy.manually')}
              onFocus={(event) => event.currentTarget.select()}
            />
          </DialogBody>
        </Dialog>
      )}
    </CopyContext>
  );
}

/** Puts a text on the clipboard and says so, or shows it for copying by hand. */
export function useCopy(): Copy {
  const copy = useContext(CopyContext);
  if (copy === null) throw new Error('there is no CopyProvider around this component');
  return copy;
}
