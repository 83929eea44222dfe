/** For lists of tokens: what they spend moves on while somebody looks. */
export const following = { pollInterval: 10_000, skipPollAttempt: (): boolean => document.hidden };
