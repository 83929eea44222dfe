import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';

/** Fields as the server names them, and what the form calls them. */
const words = {
  name: 'form.name',
  type: 'form.type',
  key: 'form.key',
  proxy: 'form.proxy',
  baseUrl: 'form.baseUrl',
  models: 'form.models',
  groups: 'form.groups',
  priority: 'form.priority',
  weight: 'form.weight',
  tag: 'form.tag',
  modelMapping: 'form.modelMapping',
  statusCodeMapping: 'form.statusCodeMapping',
  paramOverride: 'form.paramOverride',
  setting: 'form.setting',
  other: 'form.other',
  organization: 'form.organization',
  testModel: 'form.testModel',
  autoBan: 'form.autoBan',
  maxInputTokens: 'form.maxInputTokens',
} as const;

const isKnown = (field: string): field is keyof typeof words => Object.hasOwn(words, field);

/** A field that the form has no word for is called as the server does. */
export function useFieldName(): (field: string) => string {
  const t = useText(channelsTexts);
  return (field) => (isKnown(field) ? t(words[field]) : field);
}
