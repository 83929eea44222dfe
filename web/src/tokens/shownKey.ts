/** What is open while the use of a token is shown: `use-{id}`. */
export const useKind = 'use';

/** A key whose middle is left out: enough to recognise it, too little to use it. */
export const maskedKey = (key: string): string => `${key.slice(0, 7)}…${key.slice(-4)}`;
