import { escapeHtml } from '../domain/html.js';
import type { Mail } from './outgoing.js';

/* Mails that people get. Subjects are the legacy contract's to the letter; names of others are text, never markup. */

export function codeMail(to: string, systemName: string, code: string, minutes: number): Mail {
  const name = escapeHtml(systemName);
  return {
    to,
    subject: `${systemName}邮箱验证邮件`,
    html: [
      `<p>您好，您正在进行 ${name} 邮箱验证。</p>`,
      `<p>您的验证码为：<strong>${code}</strong></p>`,
      `<p>验证码 ${minutes} 分钟内有效，如果不是本人操作，请忽略。</p>`,
    ].join('\n'),
    text: [
      `您好，您正在进行 ${systemName} 邮箱验证。`,
      `您的验证码为：${code}`,
      `验证码 ${minutes} 分钟内有效，如果不是本人操作，请忽略。`,
    ].join('\n'),
  };
}

export function stepUpMail(to: string, systemName: string, code: string, minutes: number): Mail {
  const name = escapeHtml(systemName);
  return {
    to,
    subject: `${systemName}安全验证`,
    html: [
      `<p>您好，有人在您的 ${name} 账户中请求更改安全设置。</p>`,
      `<p>您的验证码为：<strong>${code}</strong></p>`,
      `<p>验证码 ${minutes} 分钟内有效。如果不是本人操作，请勿将验证码告诉任何人，并在个人设置中退出其他登录。</p>`,
    ].join('\n'),
    text: [
      `您好，有人在您的 ${systemName} 账户中请求更改安全设置。`,
      `您的验证码为：${code}`,
      `验证码 ${minutes} 分钟内有效。如果不是本人操作，请勿将验证码告诉任何人，并在个人设置中退出其他登录。`,
    ].join('\n'),
  };
}

export function resetMail(to: string, systemName: string, link: string, minutes: number): Mail {
  const [name, address] = [escapeHtml(systemName), escapeHtml(link)];
  return {
    to,
    subject: `${systemName}密码重置`,
    html: [
      `<p>您好，您正在进行 ${name} 密码重置。</p>`,
      `<p>点击 <a href="${address}">此处</a> 进行密码重置。</p>`,
      `<p>如果链接无法点击，请尝试点击下面的链接或将其复制到浏览器中打开：<br>${address}</p>`,
      `<p>重置链接 ${minutes} 分钟内有效，如果不是本人操作，请忽略。</p>`,
    ].join('\n'),
    text: [
      `您好，您正在进行 ${systemName} 密码重置。`,
      `请在浏览器中打开以下链接：\n${link}`,
      `重置链接 ${minutes} 分钟内有效，如果不是本人操作，请忽略。`,
    ].join('\n'),
  };
}
