export const chatZh = {
  title: '聊天',
  none: '请联系管理员配置聊天链接',
  broken: '聊天链接配置错误，请联系管理员',
  noToken: '当前没有可用的启用令牌，请确认是否有令牌处于启用状态！',
  app: '{{name}} 将在您设备上的应用中打开，并获得您的令牌。',
  window: '{{name}} 未加密，无法在此页中显示。打开后，它将获得您的令牌，令牌可能在网络上以明文传输。',
  open: '打开 {{name}}',
} as const;
