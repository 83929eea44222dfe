export const channelStateZh = {
  'status.ENABLED': '已启用',
  'status.DISABLED': '已禁用',
  'status.AUTO_DISABLED': '自动禁用',
  'status.reason': '{{time}}：{{reason}}',
  'speed.untested': '未测试',
  'speed.testedAt': '测试于 {{time}}',
} as const;
