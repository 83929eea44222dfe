import { createContext, lazy, type ReactNode, Suspense, useCallback, useContext, useRef, useState } from 'react';
import type { StepUpPurpose } from '../../generated/kit/proof/proof.js';
import { toaster } from '../Toasts.js';
import { errorText } from '../words/errors.js';
import { type KeptProofs, orderWithProof } from './orderWithProof.js';
import { isDeclined } from './passkeys.js';

// Few are ever asked.
const StepUpDialog = lazy(async () => ({ default: (await import('./StepUpDialog.js')).StepUpDialog }));

/**
 * Gives an order that may need a proof anew: `order` is given what was proven, first null, or the proof of a former order
 * that was refused. Resolves with its result; null where it failed, which has been said, or nobody proved anything.
 */
type WithStepUp = <Result>(
  purpose: StepUpPurpose,
  order: (stepUp: string | null) => Promise<Result>,
) => Promise<Result | null>;

interface Asked {
  /** A new one each time. */
  readonly key: number;
  readonly purpose: StepUpPurpose;
  /** null: given up. */
  readonly answer: (stepUp: string | null) => void;
  readonly isOpen: boolean;
}

const StepUpContext = createContext<WithStepUp | null>(null);

/** Once per page, around everything that gives such orders. */
export function StepUpProvider({ children }: { readonly children: ReactNode }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const lastKey = useRef(0);
  const kept = useRef<KeptProofs>(new Map());

  const withStepUp = useCallback<WithStepUp>(async (purpose, order) => {
    const ask = (): Promise<string | null> =>
      new Promise((answer) => {
        lastKey.current += 1;
        setAsked({ key: lastKey.current, purpose, answer, isOpen: true });
      });
    try {
      return await orderWithProof(kept.current, purpose, order, ask);
    } catch (error) {
      if (!isDeclined(error)) toaster.failure(errorText(error));
      return null;
    }
  }, []);

  return (
    <StepUpContext value={withStepUp}>
      {children}
      {asked !== null && (
        <Suspense>
          <StepUpDialog
            // What this user is asked for may have changed since the last time, by what was done with that proof.
            key={asked.key}
            purpose={asked.purpose}
            isOpen={asked.isOpen}
            onAnswer={(stepUp) => {
              asked.answer(stepUp);
              // It stays while it fades out, so that its text does not vanish first.
              setAsked({ ...asked, isOpen: false });
            }}
          />
        </Suspense>
      )}
    </StepUpContext>
  );
}

/** `await withStepUp('PASSWORD', (stepUp) => change({ variables: { …, stepUp }, context: { errors: 'inline' } }))` */
export function useStepUp(): WithStepUp {
  const withStepUp = useContext(StepUpContext);
  if (withStepUp === null) throw new Error('there is no StepUpProvider around this component');
  return withStepUp;
}
