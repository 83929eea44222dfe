import { readNames, readTexts } from '../../domain/options/option-values.js';
import { linesIn, type OptionReader } from './option-reader.js';
import type { Settings } from './settings.js';

/* The options of relayed calls, as the code uses them. */

/** Well before the minute after which proxies and clients give up an answer without headers. */
const defaultStreamOpenMs = 30_000;

export function streamTimes({ flag, number }: OptionReader): Pick<Settings, 'pingIntervalMs' | 'streamOpenMs'> {
  const pingIntervalMs = flag('general_setting.ping_interval_enabled')
    ? number('general_setting.ping_interval_seconds') * 1000
    : null;
  const openMs = number('general_setting.stream_open_seconds') * 1000;
  return { pingIntervalMs, streamOpenMs: openMs || Math.min(pingIntervalMs ?? Infinity, defaultStreamOpenMs) };
}

export const modelRateLimit = ({ flag, number }: OptionReader): Settings['modelRateLimit'] => ({
  enabled: flag('ModelRequestRateLimitEnabled'),
  total: number('ModelRequestRateLimitCount'),
  successful: number('ModelRequestRateLimitSuccessCount'),
  windowSeconds: number('ModelRequestRateLimitDurationMinutes') * 60,
});

export const autoDisable = ({ text, flag }: OptionReader): Settings['autoDisable'] => ({
  enabled: flag('AutomaticDisableChannelEnabled'),
  keywords: linesIn(text('AutomaticDisableKeywords')).map((word) => word.toLowerCase()),
});

/** None where prompts are not looked through. */
export function sensitiveWords({ text, flag }: OptionReader): string[] {
  const areChecked = flag('CheckSensitiveEnabled') && flag('CheckSensitiveOnPromptEnabled');
  return areChecked ? linesIn(text('SensitiveWords')).map((word) => word.toLowerCase()) : [];
}

export const geminiSettings = ({ text, flag, number }: OptionReader): Settings['gemini'] => ({
  safety: readTexts('gemini.safety_settings', text('gemini.safety_settings')),
  versions: readTexts('gemini.version_settings', text('gemini.version_settings')),
  imageModels: new Set(readNames('gemini.supported_imagine_models', text('gemini.supported_imagine_models'))),
  thinkingAdapter: flag('gemini.thinking_adapter_enabled'),
  thinkingShare: number('gemini.thinking_adapter_budget_tokens_percentage'),
});

export const midjourneySettings = ({ flag }: OptionReader): Settings['midjourney'] => ({
  notifies: flag('MjNotifyEnabled'),
  takesAccountFilter: flag('MjAccountFilterEnabled'),
  clearsModes: flag('MjModeClearEnabled'),
  forwardsPictures: flag('MjForwardUrlEnabled'),
  checksParent: flag('MjActionCheckSuccessEnabled'),
});
