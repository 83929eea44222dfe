import type { FirstStepsQuery } from '../generated/dashboard/firstSteps.js';

export interface FirstStep {
  readonly name: 'channel' | 'key' | 'call' | 'arrival';
  readonly isDone: boolean;
  /** Where it is done; null: one before it comes first. */
  readonly leadsTo: string | null;
}

/** The steps from an empty gateway to a call that is charged, whoever makes it, as far as they are done. */
export function firstSteps({ channels, apiKeys, usageLog }: FirstStepsQuery): readonly FirstStep[] {
  const [newest] = apiKeys.items;
  const called = apiKeys.items.some(({ accessedAt }) => accessedAt !== null);
  // Tests of channels are charges as well, and no key's.
  const arrived = usageLog.edges.some(({ node }) => node.apiKeyId !== null);
  return [
    { name: 'channel', isDone: channels.total > 0, leadsTo: '/channel?open=new' },
    { name: 'key', isDone: newest !== undefined || arrived, leadsTo: '/token?open=new' },
    {
      name: 'call',
      isDone: called || arrived,
      leadsTo: newest === undefined ? null : `/token?open=use-${newest.id}`,
    },
    { name: 'arrival', isDone: arrived, leadsTo: '/log' },
  ];
}

export const isDone = (steps: readonly FirstStep[]): boolean => steps.every((step) => step.isDone);
