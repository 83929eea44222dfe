import type { Translation } from '../kit/words/i18n.js';
import type { accountZh } from './account.zh.js';

export const accountEn: Translation<typeof accountZh> = {
  'closed.registration': 'Registration has been switched off. Ask an administrator for an account.',
  'closed.registrationUnavailable':
    'This version does not let people register by themselves yet. Ask an administrator for an account.',
  'closed.reset': 'This version cannot reset passwords by e-mail yet. Ask an administrator to set a new one for you.',
  expired: 'Not logged in, or the login has expired. Please log in again',
  'field.confirm': 'Confirm password',
  'field.email': 'E-mail address',
  'field.password': 'Password',
  'field.passwordHint': '8 to 20 characters',
  'field.username': 'User name',
  'field.usernameOrEmail': 'User name or e-mail address',
  'login.closed': 'Password login has been switched off by an administrator.',
  'login.forgot': 'Forgot your password?',
  'login.missing': 'Please enter user name and password',
  'login.register': 'No account? Register',
  'login.submit': 'Log in',
  'login.title': 'Log in to {{system}}',
  'login.welcome': 'Logged in',
  'register.back': 'Have an account? Log in',
  'register.title': 'Register',
  'reset.back': 'Back to the login',
  'reset.title': 'Reset password',
};
