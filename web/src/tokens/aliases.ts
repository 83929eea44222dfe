import type { ModelAliasInput } from '../generated/tokens/tokens.js';

/* Aliases of models as somebody writes them: one a line, `claude-* = gpt-4o`. */

/** By the server's rules. */
const maxAliases = 50;
const maxBytes = 255;

const sizeOf = (text: string): number => new TextEncoder().encode(text).length;
const isName = (text: string): boolean => text !== '' && sizeOf(text) <= maxBytes;
const wildcards = (text: string): number => text.split('*').length - 1;

const linesIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function aliasIn(line: string): ModelAliasInput {
  const at = line.indexOf('=');
  return at < 0 ? { name: line, model: '' } : { name: line.slice(0, at).trim(), model: line.slice(at + 1).trim() };
}

export const aliasesIn = (text: string): readonly ModelAliasInput[] => linesIn(text).map(aliasIn);

export const aliasText = (aliases: readonly ModelAliasInput[]): string =>
  aliases.map(({ name, model }) => `${name} = ${model}`).join('\n');

export function aliasProblem(text: string): 'aliases.many' | 'aliases.invalid' | 'aliases.twice' | null {
  const aliases = aliasesIn(text);
  if (aliases.length > maxAliases) return 'aliases.many';
  const isAlias = ({ name, model }: ModelAliasInput) =>
    isName(name) && isName(model) && wildcards(name) <= 1 && wildcards(model) === 0;
  if (!aliases.every(isAlias)) return 'aliases.invalid';
  return new Set(aliases.map(({ name }) => name)).size < aliases.length ? 'aliases.twice' : null;
}
