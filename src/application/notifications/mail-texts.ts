import { escapeHtml } from '../../domain/kernel/html.js';
import type { Language } from '../../domain/kernel/language.js';
import type { Mail } from '../ports/outbound-ports.js';

/*
 * Mails in the reader's language. The Chinese subjects are the legacy contract's to the letter; names that users choose
 * are escaped.
 */

interface CodeWords {
  subject(systemName: string): string;
  greeting(systemName: string): string;
  readonly code: string;
  ending(minutes: number): string;
}

const verification: Record<Language, CodeWords> = {
  zh: {
    subject: (name) => `${name}邮箱验证邮件`,
    greeting: (name) => `您好，您正在进行 ${name} 邮箱验证。`,
    code: '您的验证码为：',
    ending: (minutes) => `验证码 ${minutes} 分钟内有效，如果不是本人操作，请忽略。`,
  },
  en: {
    subject: (name) => `${name}: verify your e-mail address`,
    greeting: (name) => `Hello, somebody wants to use this e-mail address at ${name}.`,
    code: 'Your verification code: ',
    ending: (minutes) => `The code is valid for ${minutes} minutes. If this was not you, ignore this mail.`,
  },
};

const stepUp: Record<Language, CodeWords> = {
  zh: {
    subject: (name) => `${name}安全验证`,
    greeting: (name) => `您好，有人在您的 ${name} 账户中请求更改安全设置。`,
    code: '您的验证码为：',
    ending: (minutes) =>
      `验证码 ${minutes} 分钟内有效。如果不是本人操作，请勿将验证码告诉任何人，并在个人设置中退出其他登录。`,
  },
  en: {
    subject: (name) => `${name}: security check`,
    greeting: (name) => `Hello, somebody wants to change the security settings of your account at ${name}.`,
    code: 'Your verification code: ',
    ending: (minutes) =>
      `The code is valid for ${minutes} minutes. If this was not you, tell it to nobody, and end all other sign-ins in your personal settings.`,
  },
};

interface CodeMail {
  readonly to: string;
  readonly systemName: string;
  readonly code: string;
  /** For how long the code is valid. */
  readonly minutes: number;
}

function withCode({ to, systemName, code, minutes }: CodeMail, words: CodeWords): Mail {
  const paragraphs = [
    words.greeting(escapeHtml(systemName)),
    `${words.code}<strong>${code}</strong>`,
    words.ending(minutes),
  ];
  return {
    to,
    subject: words.subject(systemName),
    html: paragraphs.map((text) => `<p>${text}</p>`).join('\n'),
    text: [words.greeting(systemName), `${words.code}${code}`, words.ending(minutes)].join('\n'),
  };
}

export const codeMail = (mail: CodeMail, language: Language): Mail => withCode(mail, verification[language]);

export const stepUpMail = (mail: CodeMail, language: Language): Mail => withCode(mail, stepUp[language]);

const reset = {
  zh: {
    subject: (name: string) => `${name}密码重置`,
    greeting: (name: string) => `您好，您正在进行 ${name} 密码重置。`,
    click: (address: string) => `点击 <a href="${address}">此处</a> 进行密码重置。`,
    copy: '如果链接无法点击，请尝试点击下面的链接或将其复制到浏览器中打开：',
    open: '请在浏览器中打开以下链接：',
    ending: (minutes: number) => `重置链接 ${minutes} 分钟内有效，如果不是本人操作，请忽略。`,
  },
  en: {
    subject: (name: string) => `${name}: reset your password`,
    greeting: (name: string) => `Hello, somebody wants to reset your password at ${name}.`,
    click: (address: string) => `<a href="${address}">Reset the password</a>.`,
    copy: 'If the link does not open, copy this address to your browser:',
    open: 'Open this address in your browser:',
    ending: (minutes: number) =>
      `The link is valid for ${minutes} minutes. If this was not you, ignore this mail: your password stays as it is.`,
  },
} satisfies Record<Language, object>;

interface ResetMail extends Omit<CodeMail, 'code'> {
  readonly link: string;
}

export function resetMail({ to, systemName, link, minutes }: ResetMail, language: Language): Mail {
  const words = reset[language];
  const address = escapeHtml(link);
  return {
    to,
    subject: words.subject(systemName),
    html: [
      `<p>${words.greeting(escapeHtml(systemName))}</p>`,
      `<p>${words.click(address)}</p>`,
      `<p>${words.copy}<br>${address}</p>`,
      `<p>${words.ending(minutes)}</p>`,
    ].join('\n'),
    text: [words.greeting(systemName), `${words.open}\n${link}`, words.ending(minutes)].join('\n'),
  };
}
