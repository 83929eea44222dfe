import { checkText, type TextBound } from '../kernel/bounds.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, invalidField } from '../kernel/failure.js';
import { sameJson } from '../kernel/same-json.js';
import { type ExportField, isExportField } from './export-form.js';

/* What the columns of a provider's usage export mean, and what it calls models: as somebody has said. Stream `usageexports`. */

/** `columns`: fields by column. `models`: names here by names there. */
export type UsageExportEvent = {
  type: 'UsageExportMapped';
  provider: string;
  columns: Readonly<Record<string, string>>;
  models: Readonly<Record<string, string>>;
};

type RememberColumns = { type: 'RememberColumns' } & Omit<UsageExportEvent, 'type'>;

export interface Mapping {
  readonly columns: ReadonlyMap<string, ExportField>;
  readonly models: ReadonlyMap<string, string>;
}

const noMapping: Mapping = { columns: new Map(), models: new Map() };

/** By provider. */
type Mappings = ReadonlyMap<string, UsageExportEvent>;

const maxEntries = 200;
const nameText: TextBound = { max: 256 };
export const providerName = /^[a-z0-9][a-z0-9-]{0,39}$/;

function checkNames(field: string, names: Readonly<Record<string, string>>): void {
  const entries = Object.entries(names);
  if (entries.length > maxEntries) throw invalidField(field, `at most ${maxEntries} entries`);
  for (const entry of entries) for (const name of entry) checkText(field, name, nameText);
}

export const usageExportDecider: Decider<Mappings, RememberColumns, UsageExportEvent> = {
  initial: new Map(),
  decide(command, mappings) {
    switch (command.type) {
      case 'RememberColumns': {
        const { provider, columns, models } = command;
        if (!providerName.test(provider)) throw invalidField('provider', 'a name of small letters, digits and -');
        checkNames('map', columns);
        checkNames('model', models);
        const event: UsageExportEvent = { type: 'UsageExportMapped', provider, columns, models };
        return sameJson(mappings.get(provider) ?? null, event) ? [] : [event];
      }
      default:
        return assertNever(command.type);
    }
  },
  evolve(mappings, event) {
    switch (event.type) {
      case 'UsageExportMapped':
        return new Map(mappings).set(event.provider, event);
      default:
        return assertNever(event.type);
    }
  },
};

/** Fields that this release does not know are of none. */
export function mappingOf(mappings: Mappings, provider: string): Mapping {
  const event = mappings.get(provider);
  if (event === undefined) return noMapping;
  const columns = Object.entries(event.columns).flatMap(([column, field]): [string, ExportField][] =>
    isExportField(field) ? [[column, field]] : [],
  );
  return { columns: new Map(columns), models: new Map(Object.entries(event.models)) };
}
