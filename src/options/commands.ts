/** What `rxlet` does beside running the agent: the first argument. */
export const commands = [
  'config',
  'validate',
  'plan',
  'replay',
  'engines',
  'ps',
  'logs',
  'exec',
  'stats',
  'explain',
  'timeline',
  'watch',
] as const;
