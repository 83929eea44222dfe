/* What may be asked of a Suno server: how bodies are checked, and all that is sent of them. */

export const sunoActions = ['music', 'lyrics'] as const;
export type SunoAction = (typeof sunoActions)[number];

type MemberKind = 'text' | 'seconds' | 'flag';

/** Other members are not sent: some servers take members that name what belongs to others. */
export const sunoMembers: Readonly<Record<SunoAction, Readonly<Record<string, MemberKind>>>> = {
  lyrics: { prompt: 'text' },
  music: {
    prompt: 'text',
    gpt_description_prompt: 'text',
    mv: 'text',
    title: 'text',
    tags: 'text',
    negative_tags: 'text',
    make_instrumental: 'flag',
    generation_type: 'text',
    task: 'text',
    task_id: 'text',
    continue_at: 'seconds',
    continue_clip_id: 'text',
    continued_aligned_prompt: 'text',
    infill_start_s: 'seconds',
    infill_end_s: 'seconds',
  },
};
