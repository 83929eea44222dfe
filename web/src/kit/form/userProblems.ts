/* The limits of names, passwords and addresses, as the server has them. Keys of the dictionary, below `problem.`. */

const maxUsernameLength = 12;
const maxDisplayNameLength = 20;
const passwordLength = { min: 8, max: 20 } as const;

const characters = (text: string): number => [...text].length;

export const nameProblems = ({
  username,
  displayName,
}: {
  readonly username: string;
  readonly displayName: string;
}): { readonly username: 'username' | undefined; readonly displayName: 'displayName' | undefined } => {
  const length = characters(username.trim());
  return {
    username: length === 0 || length > maxUsernameLength ? 'username' : undefined,
    displayName: characters(displayName) > maxDisplayNameLength ? 'displayName' : undefined,
  };
};

export function passwordProblem(password: string): 'password' | undefined {
  const length = characters(password);
  return length < passwordLength.min || length > passwordLength.max ? 'password' : undefined;
}

export const looksLikeEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text.trim());
