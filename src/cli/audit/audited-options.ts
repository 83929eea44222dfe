import { type Audited, auditedKinds } from '../../application/audit/quota-history.js';
import { UsageError } from '../command.js';

const text = { type: 'string' } as const;

/** `--user 7`, `--payment USR7NO…`: one of them. */
export const auditedOptions = {
  user: text,
  'api-key': text,
  channel: text,
  code: text,
  payment: text,
  task: text,
  call: text,
} as const satisfies Record<Audited['kind'], typeof text>;

/** Throws UsageError. */
export function auditedGiven(given: { readonly [Kind in Audited['kind']]?: string | undefined }): Audited {
  const named = auditedKinds.flatMap((kind) => {
    const id = given[kind];
    return id === undefined ? [] : [{ kind, id }];
  });
  const [one, another] = named;
  if (one === undefined || another !== undefined)
    throw new UsageError(`Give one of ${auditedKinds.map((kind) => `--${kind}`).join(', ')}, with an id.`);
  return one;
}
