/* Whose a model is, by the name or profile that Amazon has for it. */

export const isClaude = (model: string): boolean => /^claude|(^|\.)anthropic\./.test(model);
export const isNova = (model: string): boolean => /(^|\.)amazon\.nova-/.test(model);
/** It does not say which model it stands for. */
export const isArn = (model: string): boolean => model.startsWith('arn:');

/** An id of Anthropic's without the group of regions that it may be asked in. */
export const withoutProfile = (id: string): string => id.replace(/^[a-z-]{1,16}\.(?=anthropic\.)/, '');
