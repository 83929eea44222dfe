import { useApolloClient, useMutation, useQuery } from '@apollo/client/react';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { ShellDocument } from '../generated/kit/shell.js';
import {
  SaveOptionsDocument,
  type SaveOptionsMutation,
  type SettingOptionFragment,
  SettingsDocument,
} from '../generated/settings/settings.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { type Drafts, withDraft, withoutDrafts } from './drafts.js';

/* The options as they are, what has been typed over them, and what the server has refused of it. */

export type Refused = SaveOptionsMutation['changeOptions']['refused'][number];
type Change = Readonly<Record<'key' | 'value', string>> & { readonly seenAt: number };

interface Settings {
  readonly options: ReadonlyMap<string, SettingOptionFragment>;
  readonly drafts: Drafts;
  readonly refused: ReadonlyMap<string, Refused>;
  readonly type: (option: SettingOptionFragment, text: string) => void;
  /** Takes a secret away. */
  readonly remove: (option: SettingOptionFragment) => void;
  readonly discard: (key: string) => void;
  /** What somebody else has made of it meanwhile is seen, and is to be replaced all the same. */
  readonly insist: (option: SettingOptionFragment) => void;
  /** What is not refused is saved, and no draft any more. Rejects when nobody answered. */
  readonly save: (changes: readonly Change[]) => Promise<readonly Refused[]>;
  readonly saving: boolean;
}

const SettingsContext = createContext<Settings | null>(null);

export function SettingsProvider({ children }: { readonly children: ReactNode }) {
  const client = useApolloClient();
  const result = useQuery(SettingsDocument, { fetchPolicy: 'cache-and-network' });
  const [send, { loading: saving }] = useMutation(SaveOptionsDocument);
  const [drafts, setDrafts] = useState<Drafts>(new Map());
  const [refused, setRefused] = useState<ReadonlyMap<string, Refused>>(new Map());
  const list = result.data?.options;
  const options = useMemo(() => new Map(list?.map((option) => [option.key, option])), [list]);

  const forget = (keys: readonly string[]): void =>
    setRefused((before) => new Map([...before].filter(([key]) => !keys.includes(key))));

  const type = (option: SettingOptionFragment, text: string, removed = false): void => {
    setDrafts((before) => withDraft(before, option, text, removed));
    // Whoever goes on typing over somebody else's change has still to choose.
    if (refused.get(option.key)?.code !== 'option-changed') forget([option.key]);
  };

  const settings: Settings = {
    options,
    drafts,
    refused,
    saving,
    type,
    remove: (option) => type(option, '', true),
    discard(key) {
      setDrafts((before) => withoutDrafts(before, [key]));
      forget([key]);
    },
    insist({ key, position }) {
      setDrafts((before) => {
        const draft = before.get(key);
        return draft === undefined ? before : new Map(before).set(key, { ...draft, seenAt: position });
      });
      forget([key]);
    },
    async save(changes) {
      const { data } = await send({ variables: { changes: [...changes] } });
      const answer = data?.changeOptions;
      if (answer === undefined) throw new Error('the server did not say what it has saved');
      const failed = answer.refused.map(({ key }) => key);
      const saved = changes.map(({ key }) => key).filter((key) => !failed.includes(key));
      setDrafts((before) => withoutDrafts(before, saved));
      setRefused((before) => {
        const rest = [...before].filter(([key]) => !saved.includes(key));
        return new Map([...rest, ...answer.refused.map((option) => [option.key, option] as const)]);
      });
      // Names, units and identity providers are shown all over the console.
      if (saved.length > 0) await client.refetchQueries({ include: [ShellDocument] }).catch(() => undefined);
      return answer.refused;
    },
  };

  if (list === undefined) return <QueryNotice {...result} />;
  return <SettingsContext value={settings}>{children}</SettingsContext>;
}

export function useSettings(): Settings {
  const settings = useContext(SettingsContext);
  if (settings === null) throw new Error('there are no settings around this component');
  return settings;
}
