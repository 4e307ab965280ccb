/** What `rxlet` does beside running the agent: the first argument. */
export const commands = ['validate', 'ps', 'logs', 'exec', 'stats', 'explain'] as const;
