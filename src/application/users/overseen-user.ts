import type { Actor } from '../../domain/user/user.js';
import type { UserRow } from '../../projections/models/users.js';

/** `a***@example.org`: enough to know an address by, too little to write to. */
const maskedEmail = (email: string): string => email.replace(/^(.).*?(@[^@]*)?$/su, '$1***$2');

/** The same of an id at an identity provider; '' stays so. */
const maskedId = (id: string): string => id.replace(/^(.).*$/su, '$1***');

/** Where users get their warnings is hidden from administrators. */
export const disclosedTo = (viewer: Actor, user: UserRow): UserRow =>
  user.id === viewer.id
    ? user
    : {
        ...user,
        email: maskedEmail(user.email),
        github: maskedId(user.github),
        oidc: maskedId(user.oidc),
        linuxdo: maskedId(user.linuxdo),
        wechat: maskedId(user.wechat),
        telegram: maskedId(user.telegram),
        settings: '',
      };
