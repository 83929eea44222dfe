import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { midjourneyActions, modelOfAction, modelsOf } from '../../../../src/relay/protocols/midjourney/actions.js';
import { actionOfButton } from '../../../../src/relay/protocols/midjourney/custom-id.js';
import { readSimpleChange } from '../../../../src/relay/protocols/midjourney/simple-change.js';
import {
  isWrong,
  readSubmission,
  type SubmitKind,
  submitKinds,
} from '../../../../src/relay/protocols/midjourney/submission.js';

const id = '1712158011464906';
const job = 'a1b2c3d4-0000-4000-8000-000000000000';

describe('the id of a button', () => {
  test.each([
    [`MJ::JOB::upsample::2::${job}`, 'UPSCALE', 2],
    [`MJ::JOB::upsample_v6_2x_subtle::1::${job}::SOLO`, 'UPSCALE', 1],
    [`MJ::JOB::variation::4::${job}`, 'VARIATION', 4],
    [`MJ::JOB::low_variation::1::${job}::SOLO`, 'LOW_VARIATION', 1],
    [`MJ::JOB::high_variation::1::${job}::SOLO`, 'HIGH_VARIATION', 1],
    [`MJ::JOB::pan_left::1::${job}::SOLO`, 'PAN', 1],
    [`MJ::JOB::reroll::0::${job}::SOLO`, 'REROLL', 1],
    [`MJ::Outpaint::75::1::${job}::SOLO`, 'ZOOM', 1],
    [`MJ::CustomZoom::${job}`, 'CUSTOM_ZOOM', 1],
    [`MJ::Inpaint::1::${job}::SOLO`, 'INPAINT', 1],
  ])('%s names its action and picture', (customId, action, index) =>
    expect(actionOfButton(customId)).toEqual({ action, index }),
  );

  test.each([`MJ::BOOKMARK::${job}`, 'MJ', '', '::::', `MJ::JOB::animate_high::1::${job}`])(
    '%s of another kind names no action',
    (customId) => expect(actionOfButton(customId)).toBeNull(),
  );

  test('names no picture where the number is missing', () =>
    expect(actionOfButton('MJ::JOB::upsample')).toEqual({ action: 'UPSCALE', index: null }));
});

describe('a change in one line', () => {
  test.each([
    [`${id} U1`, { taskId: id, action: 'UPSCALE', index: 1 }],
    [`${id} v4`, { taskId: id, action: 'VARIATION', index: 4 }],
    [`  ${id}   r `, { taskId: id, action: 'REROLL', index: null }],
  ])('%s is read as its task, action and picture', (content, change) =>
    expect(readSimpleChange(content)).toEqual(change),
  );

  test.each([`${id} U5`, `${id}U1`, id, 'U1', '', `${id} U1 V1`, `${id} R1`])('%s is not taken', (content) =>
    expect(readSimpleChange(content)).toBeNull(),
  );
});

const bodies: Readonly<Record<SubmitKind, readonly [Record<string, unknown>, string, string | null]>> = {
  imagine: [{ prompt: 'a cat', base64Array: [] }, 'IMAGINE', null],
  change: [{ taskId: id, action: 'VARIATION', index: 3 }, 'VARIATION', id],
  'simple-change': [{ content: `${id} U2` }, 'UPSCALE', id],
  action: [{ taskId: id, customId: `MJ::Inpaint::1::${job}::SOLO` }, 'INPAINT', id],
  modal: [{ taskId: id, prompt: 'a dog', maskBase64: 'AAAA' }, 'MODAL', id],
  blend: [{ base64Array: ['AAAA', 'BBBB'], dimensions: 'SQUARE' }, 'BLEND', null],
  describe: [{ base64: 'AAAA' }, 'DESCRIBE', null],
  shorten: [{ prompt: 'a cat' }, 'SHORTEN', null],
  'upload-discord-images': [{ base64Array: ['AAAA'] }, 'UPLOAD', null],
  swap: [{ sourceBase64: 'AAAA', targetBase64: 'BBBB' }, 'SWAP_FACE', null],
  video: [{ prompt: 'it walks', image: 'https://pictures.example/1.png' }, 'VIDEO', null],
  edits: [{ prompt: 'a hat', image: 'AAAA' }, 'EDITS', null],
};

const members = ['prompt', 'base64Array', 'taskId', 'action', 'index', 'content', 'customId', 'dimensions', 'base64'];
const others = ['state', 'notifyHook', 'accountFilter', 'sourceBase64', 'targetBase64', 'image', '__proto__'];

describe('a submission', () => {
  test.each(submitKinds)('to %s of any shape is read, or refused by a word and a member', (kind) =>
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...members, ...others), fc.jsonValue()), (body) => {
        const read = readSubmission(kind, body as never);
        if (isWrong(read))
          expect(read).toMatchObject({ word: expect.stringMatching(/^\w+$/), param: expect.any(String) });
        else expect(read.action).toMatch(/^[A-Z_]{1,32}$/);
      }),
    ),
  );

  test.each(submitKinds)('to %s is read as its action and the task it follows', (kind) => {
    const [body, action, parentId] = bodies[kind];
    expect(readSubmission(kind, body as never)).toEqual({ action, parentId });
  });

  test.each<[SubmitKind, Record<string, unknown>]>([
    ['imagine', { prompt: 'a cat --repeat 1 --ar 3:2 --s 5' }],
    ['imagine', { prompt: 'a {red} cat, \\{one, two}, {one\\, two}, --repeater 4, a--r 4' }],
    ['shorten', { prompt: 'a {red, green} cat --repeat 4' }],
    ['video', { prompt: 'it walks --bs 1', batchSize: 1 }],
    ['video', { prompt: 'it walks', batchSize: null }],
  ])('to %s that makes one job is taken: %j', (kind, body) =>
    expect(isWrong(readSubmission(kind, body as never))).toBe(false),
  );

  test('with a prompt of many braces and dashes is read at once', () => {
    const prompt = `{${','.repeat(8_000)}${'{a'.repeat(4_000)}`;
    const before = performance.now();
    expect(isWrong(readSubmission('imagine', { prompt } as never))).toBe(false);
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  test.each<[SubmitKind, Record<string, unknown>, string, string]>([
    ['imagine', {}, 'prompt_is_required', 'prompt'],
    ['imagine', { prompt: '' }, 'prompt_is_required', 'prompt'],
    ['imagine', { prompt: 7 }, 'prompt_is_invalid', 'prompt'],
    ['imagine', { prompt: 'x'.repeat(16_385) }, 'prompt_is_invalid', 'prompt'],
    ['imagine', { prompt: 'a', base64Array: 'AAAA' }, 'base64_array_is_invalid', 'base64Array'],
    ['imagine', { prompt: 'a', base64Array: Array(11).fill('AAAA') }, 'base64_array_is_invalid', 'base64Array'],
    ['imagine', { prompt: 'a', state: 'x'.repeat(2_049) }, 'state_is_invalid', 'state'],
    ['imagine', { prompt: 'a', notifyHook: {} }, 'notify_hook_is_invalid', 'notifyHook'],
    ['imagine', { prompt: 'a', accountFilter: 'fast' }, 'account_filter_is_invalid', 'accountFilter'],
    ['imagine', { prompt: 'a cat --repeat 4' }, 'prompt_is_invalid', 'prompt'],
    ['imagine', { prompt: '—r 10 a cat' }, 'prompt_is_invalid', 'prompt'],
    ['imagine', { prompt: 'a {red, green, blue} cat' }, 'prompt_is_invalid', 'prompt'],
    ['modal', { taskId: id, prompt: 'a cat –-REPEAT  2' }, 'prompt_is_invalid', 'prompt'],
    ['edits', { prompt: 'a {cat {big, small}}' }, 'prompt_is_invalid', 'prompt'],
    ['video', { prompt: 'it walks --bs 4' }, 'prompt_is_invalid', 'prompt'],
    ['video', { prompt: 'it walks', batchSize: 4 }, 'batch_size_is_invalid', 'batchSize'],
    ['video', { prompt: 'it walks', batchSize: '1' }, 'batch_size_is_invalid', 'batchSize'],
    ['change', {}, 'task_id_is_required', 'taskId'],
    ['change', { taskId: id }, 'action_is_required', 'action'],
    ['change', { taskId: id, action: 'PAN' }, 'unknown_action', 'action'],
    ['change', { taskId: id, action: 'UPSCALE' }, 'index_is_required', 'index'],
    ['change', { taskId: id, action: 'UPSCALE', index: 5 }, 'index_parse_failed', 'index'],
    ['change', { taskId: id, action: 'UPSCALE', index: '1' }, 'index_parse_failed', 'index'],
    ['change', { taskId: '../fetch', action: 'REROLL' }, 'task_not_found', 'taskId'],
    ['simple-change', {}, 'content_is_required', 'content'],
    ['simple-change', { content: 'U1' }, 'content_parse_failed', 'content'],
    ['simple-change', { content: { U: 1 } }, 'content_parse_failed', 'content'],
    ['action', { customId: 'x' }, 'task_id_is_required', 'taskId'],
    ['action', { taskId: id }, 'custom_id_is_required', 'customId'],
    ['action', { taskId: id, customId: 'MJ::BOOKMARK::1' }, 'unknown_action', 'customId'],
    ['action', { taskId: id, customId: 'MJ::JOB::upsample::x' }, 'index_parse_failed', 'customId'],
    ['modal', { prompt: 'a' }, 'task_id_is_required', 'taskId'],
    ['blend', {}, 'base64_array_is_required', 'base64Array'],
    ['blend', { base64Array: ['AAAA'] }, 'base64_array_is_invalid', 'base64Array'],
    ['blend', { base64Array: Array(6).fill('AAAA') }, 'base64_array_is_invalid', 'base64Array'],
    ['blend', { base64Array: ['AAAA', 'BBBB'], dimensions: 'TALL' }, 'dimensions_is_invalid', 'dimensions'],
    ['describe', {}, 'base64_is_required', 'base64'],
    ['shorten', {}, 'prompt_is_required', 'prompt'],
    ['upload-discord-images', { base64Array: [] }, 'base64_array_is_required', 'base64Array'],
    ['swap', { sourceBase64: 'AAAA' }, 'sour_base64_and_target_base64_is_required', 'targetBase64'],
    ['video', {}, 'prompt_is_required', 'prompt'],
    ['edits', { image: 'AAAA' }, 'prompt_is_required', 'prompt'],
  ])('to %s of %j is refused with the word %s', (kind, body, word, param) =>
    expect(readSubmission(kind, body as never)).toMatchObject({ word, param }),
  );

  test('of a reroll needs no picture', () =>
    expect(readSubmission('change', { taskId: id, action: 'reroll' })).toEqual({ action: 'REROLL', parentId: id }));

  test('of a longer film follows the task that it names', () =>
    expect(readSubmission('video', { taskId: id, action: 'extend' })).toEqual({ action: 'VIDEO', parentId: id }));
});

test('every action is sold by a model of its name, uploads by either of two names', () => {
  expect(modelOfAction('HIGH_VARIATION')).toBe('mj_high_variation');
  expect(modelOfAction('SWAP_FACE')).toBe('swap_face');
  expect(modelOfAction('UPLOAD')).toBe('mj_uploads');
  expect(new Set(modelsOf(midjourneyActions)).size).toBe(midjourneyActions.length);
  expect(modelsOf(['UPLOAD'])).toEqual(['mj_upload']);
});
