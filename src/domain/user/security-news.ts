import type { DomainEvent } from '../events/events.js';
import type { IdentityProvider } from '../kernel/claim.js';
import type { Notification } from './notification.js';

/*
 * What the owner of an account is notified of by mail, whoever has done it: by what one signs in, and by what one
 * proves it.
 */

interface Words {
  readonly zh: string;
  readonly en: string;
}

const providers: Record<IdentityProvider, string> = {
  github: 'GitHub',
  oidc: 'OpenID Connect',
  linuxdo: 'LinuxDO',
  wechat: 'WeChat',
  telegram: 'Telegram',
};

const advice: Words = {
  zh: '如果这不是您本人操作，请立即修改密码、退出其他登录，并联系管理员。',
  en: 'If this was not you, change your password now, end all other sign-ins, and tell the administrator.',
};

const news = (kind: string, { zh, en }: Words): Notification => ({
  kind: `security_${kind}`,
  title: zh,
  content: `${zh}。${advice.zh}`,
  values: [],
  isHtml: false,
  en: { title: en, content: `${en}. ${advice.en}` },
  aboutSecurity: true,
});

/** null: the event changes nothing that its user must be notified of. */
export function securityNews(event: DomainEvent): Notification | null {
  switch (event.type) {
    case 'PasswordChanged':
      return news('password', { zh: '您的账户密码已更改', en: 'The password of your account was changed' });
    case 'UserProfileChanged':
      return event.username === null
        ? null
        : news('username', { zh: '您的账户用户名已更改', en: 'The user name of your account was changed' });
    case 'EmailChanged':
      return event.email === null
        ? news('email', { zh: '您的账户不再使用此邮箱地址', en: 'Your account no longer has this e-mail address' })
        : news('email', {
            zh: '您的账户邮箱已改为其他地址',
            en: 'The e-mail address of your account was replaced by another one',
          });
    case 'IdentityLinked':
      return news(`linked_${event.provider}`, {
        zh: `您的账户已绑定 ${providers[event.provider]} 账号`,
        en: `An account at ${providers[event.provider]} was linked to yours and can sign in to it`,
      });
    case 'IdentityUnlinked':
      return news(`unlinked_${event.provider}`, {
        zh: `您的账户已解绑 ${providers[event.provider]} 账号`,
        en: `Your account is no longer linked to the one at ${providers[event.provider]}`,
      });
    case 'AccessTokenIssued':
      return news('access_token', {
        zh: '您的账户生成了新的系统访问令牌',
        en: 'A new access token of your account was made',
      });
    case 'TotpEnrolled':
      return news('totp_on', {
        zh: '您的账户已启用两步验证',
        en: 'Two-step verification of your account was turned on',
      });
    case 'TotpTurnedOff':
      return news('totp_off', {
        zh: '您的账户已关闭两步验证',
        en: 'Two-step verification of your account was turned off',
      });
    case 'RecoveryCodesRenewed':
      return news('recovery_codes', {
        zh: '您的账户备用码已重新生成',
        en: 'The recovery codes of your account were replaced',
      });
    case 'RecoveryCodeUsed':
      return news('recovery_code', { zh: '您的账户使用了一个备用码', en: 'A recovery code of your account was used' });
    case 'PasskeyAdded':
      return news('passkey_added', { zh: '您的账户添加了通行密钥', en: 'A passkey was added to your account' });
    case 'PasskeyRemoved':
      return news('passkey_removed', { zh: '您的账户移除了通行密钥', en: 'A passkey was removed from your account' });
    case 'FactorsReset':
      return news('factors_reset', {
        zh: '您的账户两步验证和通行密钥已被管理员重置',
        en: 'Two-step verification and passkeys of your account were reset by the administrator',
      });
    default:
      return null;
  }
}

/** Others guess. `factor`: at the codes of somebody whose password they know. */
export const guessedAt = (what: 'password' | 'factor'): Notification =>
  what === 'password'
    ? news('guessed_password', {
        zh: '有人多次尝试猜测您的账户密码',
        en: 'Somebody has tried many times to guess the password of your account',
      })
    : news('guessed_factor', {
        zh: '有人已知道您的密码，并多次尝试猜测您的两步验证码',
        en: 'Somebody knows your password and has tried many times to guess your verification code',
      });
