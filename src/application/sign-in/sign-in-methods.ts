import type { OptionKey } from '../../domain/options/option-table.js';
import type { NodeDirectory } from '../memory/directory.js';

/*
 * By which methods somebody can sign in or register now. A method is open once it is switched on and everything it needs
 * has been filled in: whoever shows methods, or serves one, asks here.
 */

/** null: that method is off. */
export interface SignInMethods {
  /** Signing in by name and password. */
  readonly password: boolean;
  /** Registering by name and password. */
  readonly registration: boolean;
  /** By an account at an identity provider. */
  readonly registrationElsewhere: boolean;
  /** Whoever registers is asked for a code that was sent by mail. */
  readonly emailVerification: boolean;
  /** A forgotten password can be replaced by mail. */
  readonly passwordReset: boolean;
  /** Asked before a sign-in or registration, once. */
  readonly humanCheck: { readonly siteKey: string } | null;
  readonly github: { readonly clientId: string } | null;
  readonly oidc: { readonly clientId: string } | null;
  readonly linuxdo: { readonly clientId: string } | null;
  readonly wechat: { readonly qrCode: string } | null;
  readonly telegram: { readonly botName: string } | null;
}

type SignInMethodPorts = Pick<NodeDirectory, 'settings' | 'optionSecret'>;

export function signInMethodsOf(directory: SignInMethodPorts): SignInMethods {
  const settings = directory.settings();
  const { text, flag } = settings;
  const filled = (...keys: readonly OptionKey[]): boolean => keys.every((key) => text(key).trim() !== '');
  const kept = (key: OptionKey): boolean => directory.optionSecret(key) !== null;

  const sendsMail = settings.mail !== null;
  const verifies = flag('EmailVerificationEnabled');
  const hasOidcEndpoints =
    filled('oidc.well_known') ||
    filled('oidc.authorization_endpoint', 'oidc.token_endpoint', 'oidc.user_info_endpoint');

  const open = <Method>(isOn: boolean, method: Method): Method | null => (isOn ? method : null);
  const providers = {
    github: open(flag('GitHubOAuthEnabled') && filled('GitHubClientId') && kept('GitHubClientSecret'), {
      clientId: text('GitHubClientId'),
    }),
    oidc: open(flag('oidc.enabled') && filled('oidc.client_id') && kept('oidc.client_secret') && hasOidcEndpoints, {
      clientId: text('oidc.client_id'),
    }),
    linuxdo: open(flag('LinuxDOOAuthEnabled') && filled('LinuxDOClientId') && kept('LinuxDOClientSecret'), {
      clientId: text('LinuxDOClientId'),
    }),
    wechat: open(flag('WeChatAuthEnabled') && filled('WeChatServerAddress') && kept('WeChatServerToken'), {
      qrCode: text('WeChatAccountQRCodeImageURL'),
    }),
    telegram: open(flag('TelegramOAuthEnabled') && filled('TelegramBotName') && kept('TelegramBotToken'), {
      botName: text('TelegramBotName'),
    }),
  };
  // Telegram signs in users who have bound it, and registers nobody.
  const { github, oidc, linuxdo, wechat } = providers;
  const takesNewcomers = [github, oidc, linuxdo, wechat].some((provider) => provider !== null);
  return {
    password: settings.passwordLogin,
    registration: flag('RegisterEnabled') && flag('PasswordRegisterEnabled') && (sendsMail || !verifies),
    registrationElsewhere: flag('RegisterEnabled') && takesNewcomers,
    emailVerification: verifies && sendsMail,
    passwordReset: sendsMail,
    humanCheck: open(flag('TurnstileCheckEnabled') && filled('TurnstileSiteKey') && kept('TurnstileSecretKey'), {
      siteKey: text('TurnstileSiteKey'),
    }),
    ...providers,
  };
}

export const signInMethodQueries = ({ directory }: { readonly directory: SignInMethodPorts }) => ({
  signInMethods: (): SignInMethods => signInMethodsOf(directory),
});
