import { TextAreaField, type ValueProps } from '../kit/form/Fields.js';
import { jsonFault } from '../kit/form/jsonFault.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';

interface JsonFieldProps extends ValueProps<string> {
  readonly placeholder?: string;
}

/** A JSON object as text. Where it stops being JSON is shown while it is typed. */
export function JsonField({ value, error, ...field }: JsonFieldProps) {
  const t = useText(channelsTexts);
  const fault = value.trim() === '' ? null : jsonFault(value);
  const problem = fault === null ? error : t('problem.jsonAt', { line: fault.line, column: fault.column });
  return <TextAreaField rows={3} monospace value={value} error={problem} {...field} />;
}
