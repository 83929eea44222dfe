import { looksLikeEmail } from '../kit/form/userProblems.js';

export interface RegisterForm {
  readonly username: string;
  readonly password: string;
  readonly confirmPassword: string;
  readonly email: string;
  readonly emailCode: string;
  /** Of who has invited them. */
  readonly inviteCode: string;
}

export const emptyRegisterForm: RegisterForm = {
  username: '',
  password: '',
  confirmPassword: '',
  email: '',
  emailCode: '',
  inviteCode: '',
};

const minPasswordLength = 8;
const maxPasswordLength = 20;
const maxUsernameLength = 12;

export type RegisterProblems = Partial<
  Record<
    keyof RegisterForm,
    | 'wrong.username'
    | 'wrong.usernameLong'
    | 'wrong.short'
    | 'wrong.long'
    | 'wrong.mismatch'
    | 'wrong.email'
    | 'wrong.code'
  >
>;

/** What has to be put right before the form may be sent; the server judges again. */
export function registerProblems(form: RegisterForm, verifies: boolean): RegisterProblems {
  const { username, password, confirmPassword, email, emailCode } = form;
  return {
    ...(username.trim() === '' && { username: 'wrong.username' }),
    ...([...username.trim()].length > maxUsernameLength && { username: 'wrong.usernameLong' }),
    ...([...password].length < minPasswordLength && { password: 'wrong.short' }),
    ...([...password].length > maxPasswordLength && { password: 'wrong.long' }),
    ...(password !== confirmPassword && { confirmPassword: 'wrong.mismatch' }),
    ...(verifies && !looksLikeEmail(email) && { email: 'wrong.email' }),
    ...(verifies && emailCode.trim() === '' && { emailCode: 'wrong.code' }),
  };
}
