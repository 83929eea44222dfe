import { describe, expect, test } from 'vitest';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import {
  asMail,
  channelRunningOut,
  channelSwitched,
  quotaRunningOut,
  testRunFinished,
} from '../../../src/domain/user/notification.js';

describe('a notification as a mail', () => {
  test('has its values in the right positions, in HTML and in plain text', () => {
    expect(asMail(quotaRunningOut('＄0.001000 额度', '$0.001000', 'https://gate.example/topup'), 'zh')).toEqual({
      subject: '您的额度即将用尽',
      html: "您的额度即将用尽，当前剩余额度为 ＄0.001000 额度，为了不影响您的使用，请及时充值。<br/>充值链接：<a href='https://gate.example/topup'>https://gate.example/topup</a>",
      text: '您的额度即将用尽，当前剩余额度为 ＄0.001000 额度，为了不影响您的使用，请及时充值。\n充值链接：https://gate.example/topup',
    });
  });

  test('escapes texts of others', () => {
    const name = `<script>&amp;'"`;
    const { html, text } = asMail(channelSwitched(ChannelId(7), name, { reason: '<img src=x>' }), 'zh');
    expect(html).toBe('<p>通道「&lt;script&gt;&amp;amp;&#39;&quot;」（#7）已被禁用，原因：&lt;img src=x&gt;</p>');
    expect(text).toBe(`通道「${name}」（#7）已被禁用，原因：<img src=x>`);
  });

  test('is not changed by a value that looks like a placeholder', () => {
    const { text } = asMail(quotaRunningOut('{{value}}', '{{value}}', 'https://gate.example/topup'), 'zh');
    expect(text).toContain('当前剩余额度为 {{value}}，');
    expect(text).toContain('充值链接：https://gate.example/topup');
  });
});

describe('a notification as an English mail', () => {
  test('has its own text and values, and escapes texts of others', () => {
    expect(asMail(quotaRunningOut('＄0.001000 额度', '$0.001000', 'https://gate.example/topup'), 'en')).toEqual({
      subject: 'Your quota is running out',
      html: "Your quota is running out: $0.001000 is left. Top it up so that your calls go on.<br/>Top up: <a href='https://gate.example/topup'>https://gate.example/topup</a>",
      text: 'Your quota is running out: $0.001000 is left. Top it up so that your calls go on.\nTop up: https://gate.example/topup',
    });
    expect(asMail(channelSwitched(ChannelId(7), '<b>', { reason: '<img>' }), 'en')).toEqual({
      subject: 'Channel "<b>" (#7) was switched off',
      html: '<p>Channel &quot;&lt;b&gt;&quot; (#7) was switched off. Reason: &lt;img&gt;</p>',
      text: 'Channel "<b>" (#7) was switched off. Reason: <img>',
    });
    expect(asMail(channelSwitched(ChannelId(7), 'east', null), 'en').text).toBe('Channel "east" (#7) was switched on');
    expect(asMail(testRunFinished, 'en').subject).toBe('Channel tests finished');
  });

  test('is in Chinese if an earlier version queued it without English', () => {
    const queued = { kind: 'channel_test', title: '通道测试完成', content: '完成', values: [], isHtml: false };
    expect(asMail(queued, 'en')).toMatchObject({ subject: '通道测试完成', text: '完成' });
  });
});

describe('a notification of a switched channel', () => {
  test('contains its number, its state and, when it is disabled, the reason', () => {
    expect(channelSwitched(ChannelId(7), 'east', { reason: 'no credit' })).toMatchObject({
      kind: 'channel_update_7_3',
      title: '通道「east」（#7）已被禁用',
      content: '通道「east」（#7）已被禁用，原因：no credit',
      values: [],
    });
    expect(channelSwitched(ChannelId(7), 'east', null)).toMatchObject({
      kind: 'channel_update_7_1',
      title: '通道「east」（#7）已被启用',
      content: '通道「east」（#7）已被启用',
    });
  });
});

describe('a notification to root about channels', () => {
  test('names the account that runs out, and its remaining credit', () => {
    expect(channelRunningOut(ChannelId(7), 'east', '0.25')).toEqual({
      kind: 'channel_balance_7',
      title: '通道「east」（#7）余额不足',
      content: '通道「east」（#7）余额不足，当前余额：0.25',
      values: [],
      isHtml: false,
      en: {
        title: 'The balance of channel "east" (#7) is low',
        content: 'The balance of channel "east" (#7) is low. Balance: 0.25',
      },
    });
  });

  test('has the text of the legacy contract for a finished test', () => {
    expect(testRunFinished).toMatchObject({
      kind: 'channel_test',
      title: '通道测试完成',
      content: '所有通道测试已完成',
    });
  });
});
