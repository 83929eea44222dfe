/** What is open while the use of a token is told: `use-{id}`. */
export const useKind = 'use';

/** A key whose middle is left out: enough to tell it by, too little to use it. */
export const maskedKey = (key: string): string => `${key.slice(0, 7)}…${key.slice(-4)}`;
