import { describe, expect, test } from 'vitest';
import { firstSteps, isDone } from '../../web/src/dashboard/firstStepsState.js';
import { agentSetup, agents, shellLines } from '../../web/src/tokens/agentSetup.js';
import { snippetKinds, snippetOf } from '../../web/src/tokens/tokenSnippets.js';

describe('the code of a first call', () => {
  const call = { address: 'https://gate.example', key: 'sk-secret', model: `it's "odd"\n` };

  test.each(snippetKinds)('in %s names key, address and model', (kind) => {
    const lines = snippetOf(kind, { ...call, model: 'gpt-4o-mini' });
    for (const part of [call.key, call.address, 'gpt-4o-mini']) expect(lines).toContain(part);
  });
  test('quotes any model name', () => {
    expect(snippetOf('curl', call)).toContain(String.raw`it'\''s \"odd\"\n`);
    expect(snippetOf('python', call)).toContain(String.raw`model="it's \"odd\"\n",`);
    expect(snippetOf('node', call)).toContain(String.raw`model: "it's \"odd\"\n",`);
  });
});

describe('the lines for a coding agent', () => {
  const call = { address: 'https://gate.example', key: 'sk-secret', model: 'gpt-4o-mini' };
  const all = (agent: (typeof agents)[number], given = call) => {
    const setup = agentSetup(agent, given);
    return { file: setup.file?.text ?? '', shell: shellLines(setup) };
  };

  test.each(agents)('%s name key, address and model, and keep the key out of files', (agent) => {
    const { file, shell } = all(agent);
    for (const part of [call.key, call.address, call.model]) expect(file + shell).toContain(part);
    expect(file).not.toContain(call.key);
  });

  test.each(agents)('%s quote any model name', (agent) => {
    const { file, shell } = all(agent, { ...call, model: `it's "odd"` });
    expect(file + shell).toMatch(/it's \\"odd\\"|it'\\''s "odd"/);
  });
});

describe('the first steps', () => {
  const nothing = { channels: { total: 0 }, apiKeys: { items: [] }, usageLog: { edges: [] } };
  const done = (data: Parameters<typeof firstSteps>[0]) =>
    firstSteps(data).flatMap(({ name, isDone: is }) => (is ? [name] : []));
  const key = (accessedAt: number | null) => ({ items: [{ id: '5', accessedAt }] });
  const line = (apiKeyId: string | null) => ({ edges: [{ node: { id: '9', apiKeyId } }] });

  test('are ticked by existing data', () => {
    expect(done(nothing)).toEqual([]);
    expect(done({ ...nothing, channels: { total: 1 }, apiKeys: key(null) })).toEqual(['channel', 'key']);
    expect(done({ ...nothing, apiKeys: key(1_800_000_000) })).toEqual(['key', 'call']);
  });
  test('do not count a test of a channel as a call with a key', () => {
    expect(done({ ...nothing, usageLog: line(null) })).toEqual([]);
  });
  test('are complete once a call has been charged', () => {
    const all = { channels: { total: 1 }, apiKeys: key(1_800_000_000), usageLog: line('5') };
    expect(isDone(firstSteps(all))).toBe(true);
    expect(isDone(firstSteps(nothing))).toBe(false);
  });
  test('are complete as well where it was another user’s key', () => {
    expect(isDone(firstSteps({ ...nothing, channels: { total: 1 }, usageLog: line('7') }))).toBe(true);
  });
  test('show how to call once there is a key', () => {
    const leadsTo = (data: Parameters<typeof firstSteps>[0]) =>
      firstSteps(data).find(({ name }) => name === 'call')?.leadsTo;
    expect(leadsTo(nothing)).toBeNull();
    expect(leadsTo({ ...nothing, apiKeys: key(null) })).toBe('/token?open=use-5');
  });
});
