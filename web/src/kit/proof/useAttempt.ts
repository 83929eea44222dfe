import { useState } from 'react';
import { errorText } from '../words/errors.js';
import { isDeclined } from './passkeys.js';

/** One attempt at a time to prove something: whether one is under way, and what was wrong with the last. */
export interface Attempt {
  readonly busy: boolean;
  /** null: nothing, or the reader has left a question of the browser's unanswered. */
  readonly problem: string | null;
  readonly setProblem: (problem: string | null) => void;
  readonly attempt: (order: () => Promise<void>) => Promise<void>;
}

export function useAttempt(): Attempt {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const attempt = async (order: () => Promise<void>): Promise<void> => {
    setProblem(null);
    setBusy(true);
    try {
      await order();
    } catch (error) {
      if (!isDeclined(error)) setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };

  return { busy, problem, setProblem, attempt };
}
