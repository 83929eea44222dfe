import { expect, test } from 'vitest';
import { turnMark } from '../../bench/processes/agent-turn.js';
import { chatRequest, type Spoken } from '../../bench/processes/chat-request.js';

test.each<Spoken>(['chat', 'messages', 'responses'])(
  'a turn of an agent has its length, its tools and one mark, in the words of %s',
  (dialect) => {
    const turn = { bytes: 150_000, tools: 60 };
    const { body } = chatRequest({ apiKey: 'sk-1', model: 'm', stream: true, dialect, turn });
    expect(body.length).toBeGreaterThan(140_000);
    expect(body.length).toBeLessThan(151_000);
    expect(JSON.parse(body).tools).toHaveLength(60);
    expect(body.split(turnMark)).toHaveLength(2);
  },
);
