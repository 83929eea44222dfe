import type { Translation } from '../words/i18n.js';
import type { inviteZh } from './invite.zh.js';

export const inviteEn: Translation<typeof inviteZh> = {
  title: 'Invitations',
  note: 'Whoever registers by your link counts as invited by you. Rewards can be spent once they are in the balance.',
  closed: 'An administrator has closed registration, so the link leads nowhere at the moment.',
  link: 'Invite link',
  'link.copy': 'Copy the invite link',
  'link.make': 'Make an invite link',
  invited: 'Users invited',
  waiting: 'To be transferred',
  ever: 'Earned so far',
  amount: 'Amount to transfer',
  all: 'All of it',
  transfer: 'Transfer to balance',
  minTransfer: 'At least {{amount}} at a time',
  tooMuch: 'There is {{amount}} to transfer',
  done: 'The reward is in the balance now',
};
