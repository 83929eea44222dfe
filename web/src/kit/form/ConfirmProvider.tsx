import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { ConfirmTyped, type Question } from './ConfirmTyped.js';

type Ask = (question: Question) => Promise<boolean>;

const ConfirmContext = createContext<Ask | null>(null);

interface Asked {
  readonly question: Question;
  readonly answer: (confirmed: boolean) => void;
  readonly isOpen: boolean;
}

/** Once per application, around everything that may ask. */
export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const ask = useCallback<Ask>((question) => new Promise((answer) => setAsked({ question, answer, isOpen: true })), []);
  return (
    <ConfirmContext value={ask}>
      {children}
      {asked !== null && (
        <ConfirmTyped
          {...asked.question}
          isOpen={asked.isOpen}
          onAnswer={(confirmed) => {
            asked.answer(confirmed);
            // It stays while it fades out, so that its text does not vanish first.
            setAsked({ ...asked, isOpen: false });
          }}
        />
      )}
    </ConfirmContext>
  );
}

/** `if (await confirm({ title, confirm: t('delete') })) …` */
export function useConfirm(): Ask {
  const ask = useContext(ConfirmContext);
  if (ask === null) throw new Error('there is no ConfirmProvider around this component');
  return ask;
}
