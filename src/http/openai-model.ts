/* A model as OpenAI's clients read it: lists of more than one face name models so. */

/** Unix seconds, of every model: clients expect a number, no upstream agrees on one. */
export const modelsCreated = 1_626_777_600;

export const openAiModel = (id: string, ownedBy: string) => ({
  id,
  object: 'model',
  created: modelsCreated,
  owned_by: ownedBy,
  permission: [],
  root: id,
  parent: null,
});
