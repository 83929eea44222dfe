import { LazyOperatorText } from './LazyOperatorText.js';
import { commonTexts } from './words/common.texts.js';
import { useText } from './words/i18n.js';

interface OperatorPageProps {
  /** Markdown, HTML or an address, without space around. */
  readonly content: string;
  /** What the page behind an address is called. */
  readonly label: string;
}

/** What an operator put in place of a page. An address is shown in a frame: the page behind it must not touch this one. */
export function OperatorPage({ content, label }: OperatorPageProps) {
  const common = useText(commonTexts);
  if (!/^https?:\/\/\S+$/.test(content)) return <LazyOperatorText text={content} />;
  // What is not encrypted is no frame of this page: its policy forbids it.
  if (content.startsWith('http:'))
    return (
      <p className="operator-link">
        <a href={content} target="_blank" rel="noopener noreferrer">
          {common('open.elsewhere', { name: label })}
        </a>
      </p>
    );
  return (
    <iframe
      className="whole-frame"
      src={content}
      title={label}
      sandbox="allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
    />
  );
}
