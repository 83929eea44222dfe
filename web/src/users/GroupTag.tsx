import { type Intent, Tag } from '@blueprintjs/core';

/** Paying groups stand out. */
const intents: Readonly<Record<string, Intent>> = { vip: 'warning', pro: 'warning', svip: 'danger', premium: 'danger' };

export const GroupTag = ({ group }: { readonly group: string }) => (
  <Tag minimal round intent={intents[group] ?? 'none'}>
    {group}
  </Tag>
);
