/** Model names, written one after the other because some providers have more than a hundred. */
export const modelList = (names: string): readonly string[] => names.trim().split(/\s+/);
