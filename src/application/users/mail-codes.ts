/** How long what was sent by mail can be brought back, and how many wrong tries it outlives. */
export const codeMinutes = 10;
export const codeLifetimeMs = codeMinutes * 60_000;
export const codeTries = 5;
