import { bytesIn, checkText } from '../kernel/bounds.js';
import { invalidField } from '../kernel/failure.js';
import { maxModelNameBytes } from '../kernel/names.js';

/* Names by which a key's programs ask for a model that is called otherwise: some take none but `claude-…`. */

export interface ModelAlias {
  /** As it is asked for; one `*` stands for any characters. */
  readonly name: string;
  /** As the gateway knows it. It is no alias itself. */
  readonly model: string;
}

export const maxModelAliases = 50;
const wildcard = '*';

/** Throws `invalid-field`. */
export function checkModelAliases(aliases: readonly ModelAlias[]): void {
  const field = 'modelAliases';
  if (aliases.length > maxModelAliases) throw invalidField(field, `at most ${maxModelAliases} entries`);
  const names = new Set<string>();
  for (const [index, { name, model }] of aliases.entries()) {
    for (const [part, text] of [['name', name] as const, ['model', model] as const]) {
      const place = `${field}.${index}.${part}`;
      if (text === '' || bytesIn(text) > maxModelNameBytes)
        throw invalidField(place, `from 1 to ${maxModelNameBytes} bytes`);
      checkText(place, text, { max: maxModelNameBytes });
    }
    if (name.split(wildcard).length > 2) throw invalidField(`${field}.${index}.name`, 'one * at most');
    if (model.includes(wildcard)) throw invalidField(`${field}.${index}.model`, 'the name of one model, without *');
    if (names.has(name)) throw invalidField(`${field}.${index}.name`, 'each name once');
    names.add(name);
  }
}

function matches(pattern: string, name: string): boolean {
  const at = pattern.indexOf(wildcard);
  if (at < 0) return pattern === name;
  const end = pattern.slice(at + 1);
  return name.length >= pattern.length - 1 && name.startsWith(pattern.slice(0, at)) && name.endsWith(end);
}

/** The model that is meant by `name`: a whole name comes before those with `*`, and those in their order. null: itself. */
export function aliasedModel(aliases: readonly ModelAlias[] | undefined, name: string): string | null {
  if (aliases === undefined) return null;
  const found = aliases.find((alias) => alias.name === name) ?? aliases.find((alias) => matches(alias.name, name));
  return found === undefined || found.model === name ? null : found.model;
}

/** The aliases that are names by themselves, which can be listed. */
export const namedAliases = (aliases: readonly ModelAlias[] | undefined): readonly ModelAlias[] =>
  aliases?.filter(({ name, model }) => !name.includes(wildcard) && name !== model) ?? [];
