import { Dialog, DialogBody, DialogFooter, SegmentedControl } from '@blueprintjs/core';
import { useState } from 'react';
import { CopyButton } from '../kit/CopyButton.js';
import { useStatus } from '../kit/SessionProvider.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import type { ChatRequest } from './conversation.js';
import { playgroundTexts } from './playground.texts.js';
import { type SnippetKind, snippetKinds, snippetOf } from './snippets.js';

interface CodeDialogProps {
  readonly request: ChatRequest;
  readonly onClose: () => void;
}

/** The request of the playground, for one's own programs. */
export function CodeDialog({ request, onClose }: CodeDialogProps) {
  const t = useText(playgroundTexts);
  const common = useText(commonTexts);
  const { serverAddress } = useStatus();
  const [kind, setKind] = useState<SnippetKind>('curl');
  const address = serverAddress.replace(/\/+$/, '') || window.location.origin;
  const code = snippetOf(kind, address, request);
  return (
    <Dialog isOpen onClose={onClose} title={t('code')} className="playground-code">
      <DialogBody>
        <SegmentedControl
          aria-label={t('code.kind')}
          options={snippetKinds.map((value) => ({ value, label: t(`code.${value}`) }))}
          value={kind}
          onValueChange={(value) => setKind(value as SnippetKind)}
        />
        <p className="page-help">{t('code.hint')}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keyboard */}
        <pre tabIndex={0}>{code}</pre>
      </DialogBody>
      <DialogFooter actions={<CopyButton text={code} caption={common('copy')} />} />
    </Dialog>
  );
}
