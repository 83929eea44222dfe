/** What Claude Code says of itself before its instructions: for Anthropic's accounts, and until 2.1.180 another at each turn. */
export const isAttribution = (text: string): boolean => text.startsWith('x-anthropic-billing-header:');
