/**
 * Makes a call of a file system. `path`, absolute and free of links, is where the call looks: its caller knows then which file system
 * answers, or does not. What makes many calls in one file system says by `alive` that they are answered; it throws when they are to end. Rejects
 * with the call's error.
 */
export type Touch = <T>(path: string, call: (alive: () => void) => Promise<T>) => Promise<T>;

/** For files of the agent's own. */
export const touchDirectly: Touch = (_path, call) => call(() => {});
