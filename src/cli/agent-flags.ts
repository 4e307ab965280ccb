import { join, resolve } from 'node:path';
import { LOCAL_SOCKET_NAME } from '../base/local-socket-name.ts';
import { UsageError } from './command-io.ts';

export const agentFlags = `
Any of these takes --root-dir DIR, as the agent was given it, or --socket PATH, and --help.
`;

export interface AgentFlags {
  /** All other words. */
  readonly own: readonly string[];
  readonly help: boolean;
  readonly socketPath: string;
}

/** Takes out the flags that say which agent is asked. Throws UsageError. */
export function takeAgentFlags(argv: readonly string[], defaultRootDir: string): AgentFlags {
  const own: string[] = [];
  let rootDir = defaultRootDir;
  let socket: string | undefined;
  let help = false;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      own.push(...argv.slice(at));
      break;
    }
    const [, flag, inline] = /^--(root-dir|socket)(?:=(.*))?$/s.exec(word) ?? [];
    if (word === '--help' || word === '-h') help = true;
    else if (flag === undefined) own.push(word);
    else {
      const value = inline ?? argv[++at];
      if (value === undefined || value === '') throw new UsageError(`--${flag} needs a value`);
      if (flag === 'socket') socket = value;
      else rootDir = value;
    }
  }
  return { own, help, socketPath: socket ?? join(resolve(rootDir), LOCAL_SOCKET_NAME) };
}
