/** How long a mailed code or link is valid, and how many wrong tries invalidate it. */
export const codeMinutes = 10;
export const codeLifetimeMs = codeMinutes * 60_000;
export const codeTries = 5;
