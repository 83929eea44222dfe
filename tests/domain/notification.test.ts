import { describe, expect, test } from 'vitest';
import { ChannelId } from '../../src/domain/ids.js';
import {
  asMail,
  channelRunningOut,
  channelSwitched,
  quotaRunningOut,
  testRunFinished,
} from '../../src/domain/notification.js';

describe('a notification as a mail', () => {
  test('has its values where they belong, in HTML and in plain text', () => {
    expect(asMail(quotaRunningOut('＄0.001000 额度', 'https://gate.example/topup'))).toEqual({
      subject: '您的额度即将用尽',
      html: "您的额度即将用尽，当前剩余额度为 ＄0.001000 额度，为了不影响您的使用，请及时充值。<br/>充值链接：<a href='https://gate.example/topup'>https://gate.example/topup</a>",
      text: '您的额度即将用尽，当前剩余额度为 ＄0.001000 额度，为了不影响您的使用，请及时充值。\n充值链接：https://gate.example/topup',
    });
  });

  test('shows texts of others as text', () => {
    const name = `<script>&amp;'"`;
    const { html, text } = asMail(channelSwitched(ChannelId(7), name, { reason: '<img src=x>' }));
    expect(html).toBe('<p>通道「&lt;script&gt;&amp;amp;&#39;&quot;」（#7）已被禁用，原因：&lt;img src=x&gt;</p>');
    expect(text).toBe(`通道「${name}」（#7）已被禁用，原因：<img src=x>`);
  });

  test('cannot be made to say more by a value that looks like a placeholder', () => {
    const { text } = asMail(quotaRunningOut('{{value}}', 'https://gate.example/topup'));
    expect(text).toContain('当前剩余额度为 {{value}}，');
    expect(text).toContain('充值链接：https://gate.example/topup');
  });
});

describe('a channel that was switched', () => {
  test('is told with its number, its state and, when it is off, the reason', () => {
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

describe('what root is told of channels', () => {
  test('names the account that runs out, and what it has left', () => {
    expect(channelRunningOut(ChannelId(7), 'east', '0.25')).toEqual({
      kind: 'channel_balance_7',
      title: '通道「east」（#7）余额不足',
      content: '通道「east」（#7）余额不足，当前余额：0.25',
      values: [],
      isHtml: false,
    });
  });

  test('has the words of the contract for a test that is over', () => {
    expect(testRunFinished).toMatchObject({
      kind: 'channel_test',
      title: '通道测试完成',
      content: '所有通道测试已完成',
    });
  });
});
