import { useState } from 'react';

/* What a browser remembers between visits. A browser that refuses storage forgets, and all else works. */

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** null forgets. */
export function remember(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // Private windows and full disks: it is remembered until the page is left.
  }
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** State that outlives the page. `isValid` judges what an older version, or somebody else, left under the key. */
export function useRemembered<Value>(
  key: string,
  initial: Value,
  isValid: (value: unknown) => value is Value,
): [Value, (value: Value) => void] {
  const [value, setValue] = useState(() => {
    const stored = parsed(recall(key));
    return isValid(stored) ? stored : initial;
  });
  return [
    value,
    (next) => {
      remember(key, JSON.stringify(next));
      setValue(next);
    },
  ];
}

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
