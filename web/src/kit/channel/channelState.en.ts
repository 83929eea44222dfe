import type { Translation } from '../words/i18n.js';
import type { channelStateZh } from './channelState.zh.js';

export const channelStateEn: Translation<typeof channelStateZh> = {
  'status.ENABLED': 'Enabled',
  'status.DISABLED': 'Disabled',
  'status.AUTO_DISABLED': 'Auto-disabled',
  'status.reason': '{{time}}: {{reason}}',
  'change.ADDED': 'added',
  'change.EDITED': 'edited',
  'change.REMOVED': 'deleted',
  'change.BALANCE_TOLD': 'reported a balance of {{balance}}',
  'change.enabled': 'enabled',
  'change.enabledAutomatically': 'enabled again automatically',
  'change.disabled': 'disabled',
  'change.disabledAutomatically': 'disabled automatically',
  'change.passed': 'passed its test, {{time}}',
  'change.failed': 'failed its test',
  'test.failed': 'Test failed',
  'speed.untested': 'Untested',
  'speed.testedAt': 'Tested at {{time}}',
};
