import { SegmentedControl } from '@blueprintjs/core';
import { useState } from 'react';
import { CopyButton } from '../kit/CopyButton.js';
import { useServerAddress } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { type Agent, agentSetup, agents, shellLines } from './agentSetup.js';
import { CodeBlock } from './CodeBlock.js';
import { maskedKey } from './shownKey.js';
import { tokensTexts } from './tokens.texts.js';

/** What a coding agent needs to call with this key: lines of its configuration, and of a shell. */
export function AgentLines({ apiKey, model }: { readonly apiKey: string; readonly model: string }) {
  const t = useText(tokensTexts);
  const address = useServerAddress();
  const [agent, setAgent] = useState<Agent>('claudeCode');
  const setup = (key: string) => agentSetup(agent, { address, key, model });
  const { file } = setup(apiKey);
  return (
    <>
      <div className="use-token-kinds use-token-agents">
        <SegmentedControl
          size="small"
          aria-label={t('use.agent')}
          options={agents.map((value) => ({ value, label: t(`use.${value}`) }))}
          value={agent}
          onValueChange={(value) => setAgent(agents.find((known) => known === value) ?? 'claudeCode')}
        />
      </div>
      {file !== null && (
        <section>
          <div className="use-token-kinds">
            <span>{t('use.file', { path: file.path })}</span>
            <CopyButton text={file.text} label={t('use.copyFile', { path: file.path })} />
          </div>
          <CodeBlock text={file.text} />
        </section>
      )}
      <section>
        <div className="use-token-kinds">
          <span>{t('use.shell')}</span>
          <CopyButton text={shellLines(setup(apiKey))} label={t('use.copyShell')} isSecret />
        </div>
        <CodeBlock text={shellLines(setup(maskedKey(apiKey)))} />
      </section>
    </>
  );
}
