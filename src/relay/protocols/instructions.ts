/** Instructions in the midst of a conversation, on a wire that has no role for them there: said by the user, and marked. */
export const instructionText = (text: string): string => `<system-instruction>\n${text}\n</system-instruction>`;
