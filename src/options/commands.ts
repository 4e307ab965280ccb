interface Usage {
  readonly name: string;
  /** As help shows them after the name. */
  readonly arguments: string;
  readonly help: string;
}

/** What `rxlet` does beside running the agent, by the first argument: a line for each use. Help, the man page and completions derive from it. */
export const commandTable = [
  { name: 'config', arguments: 'check <file>...', help: 'say what is wrong with config files and flags' },
  { name: 'config', arguments: 'print', help: 'what every option is, and where that comes from' },
  { name: 'validate', arguments: '<manifest>...', help: 'check manifests without running them' },
  { name: 'plan', arguments: '<manifest>...', help: 'what would change if these manifests replaced others' },
  { name: 'replay', arguments: '<recording>', help: 'decide again what was recorded (--record)' },
  { name: 'engines', arguments: '', help: 'list the container engines and what they can do' },
  { name: 'ps', arguments: '', help: 'list the pods on this node' },
  { name: 'logs', arguments: '<pod>', help: 'print the log of a container' },
  { name: 'exec', arguments: '<pod> -- <cmd>...', help: 'run a command in a container' },
  { name: 'stats', arguments: '[<pod>]', help: 'what pods or containers use' },
  { name: 'explain', arguments: '[<pod>|node]', help: 'why a pod, or the node, is in its state' },
  { name: 'timeline', arguments: '[<pod>]', help: 'what has happened, also before the last restart' },
  { name: 'watch', arguments: '', help: 'all pods and what is going on, live' },
  { name: 'support-bundle', arguments: '', help: 'what others need to help, in a file, without credentials' },
  { name: 'completion', arguments: '<shell>', help: 'print the completions for bash, zsh or fish' },
] as const satisfies readonly Usage[];

export type CommandName = (typeof commandTable)[number]['name'];
export const commands: readonly CommandName[] = [...new Set(commandTable.map(({ name }) => name))];
