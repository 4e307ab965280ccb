import type { AgentClient } from './agent-client.ts';
import { CommandError, type CommandInput, type CommandIo, type CommandOutput, UsageError } from './command-io.ts';
import { commandResult } from './command-result.ts';
import { parseArguments } from './parse-arguments.ts';
import { chooseContainer, choosePod, listPods } from './pod-names.ts';
import { openWebSocket, type WebSocketClient } from './web-socket.ts';

export const execFlags = {
  namespace: { short: 'n', value: true },
  container: { short: 'c', value: true },
  stdin: { short: 'i' },
  tty: { short: 't' },
  quiet: { short: 'q' },
} as const;

export const execUsage = `Usage: rxlet exec [-i] [-t] [-c CONTAINER] [-n NAMESPACE] [NAMESPACE/]POD -- COMMAND [ARGUMENT...]

Runs a command in a container of a pod on this node. The exit code is the command's.

  -i, --stdin            pass the standard input on
  -t, --tty              in a terminal; with -i a shell can be used as if one sat there
  -c, --container NAME   the container; the pod's first one unless said
  -q, --quiet            do not say which container that is
  -n, --namespace NAME
`;

/** The channels of v4.channel.k8s.io and v5.channel.k8s.io: a message's first byte. */
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const RESIZE = 4;
/** v5 only: "this channel ends". */
const CLOSE = 255;

export async function runExec(argv: readonly string[], agent: Pick<AgentClient, 'json' | 'upgrade'>, io: CommandIo): Promise<number> {
  const { flags, words, rest = [] } = parseArguments(argv, execFlags);
  const [asked, ...others] = words;
  if (asked === undefined) throw new UsageError('which pod?');
  if (rest.length === 0)
    throw new UsageError(`which command? It goes after two dashes: rxlet exec ${asked} -- ${others.join(' ') || 'COMMAND'}`);
  if (others.length > 0)
    throw new UsageError(`${JSON.stringify(others[0])} is neither the pod nor, after two dashes, a part of the command`);
  const chosen = choosePod(await listPods(agent), asked, flags['namespace']);
  const { container, note } = chooseContainer(chosen, flags['container']);
  if (note !== undefined && flags['quiet'] === undefined) io.stderr.write(note);
  const stdin = flags['stdin'] !== undefined;
  const tty = flags['tty'] !== undefined && terminalOrNot(stdin, io);

  const query = new URLSearchParams();
  for (const word of rest) query.append('command', word);
  if (stdin) query.set('input', '1');
  query.set('output', '1');
  query.set(tty ? 'tty' : 'error', '1');
  const path = ['exec', chosen.namespace, chosen.name, container].map(encodeURIComponent).join('/');
  const socket = await openWebSocket(agent, `/${path}?${query.toString()}`, ['v5.channel.k8s.io', 'v4.channel.k8s.io']);
  return await converse(socket, { stdin, tty }, io);
}

function terminalOrNot(stdin: boolean, io: CommandIo): boolean {
  if (!stdin || io.stdin.isTTY === true) return true;
  io.stderr.write('Unable to use a TTY - input is not a terminal or the right kind of file\n');
  return false;
}

async function converse(
  socket: WebSocketClient,
  wanted: { readonly stdin: boolean; readonly tty: boolean },
  io: CommandIo,
): Promise<number> {
  const { stdin, stdout, stderr } = io;
  const raw = wanted.tty && wanted.stdin && stdin.setRawMode !== undefined;
  const resize = (): void => sendSize(socket, stdout);
  const gone = (): void => socket.close();
  stdout.on('error', gone);
  try {
    if (raw) stdin.setRawMode?.(true);
    if (wanted.tty) {
      resize();
      stdout.on('resize', resize);
    }
    if (wanted.stdin) void sendInput(socket, stdin);
    let status: Buffer | undefined;
    for await (const message of socket.messages) {
      const payload = message.subarray(1);
      if (message[0] === STDOUT && payload.length > 0) await written(stdout, payload);
      else if (message[0] === STDERR && payload.length > 0) stderr.write(payload);
      else if (message[0] === STATUS && payload.length > 0) status = payload;
    }
    const { exitCode, message } = commandResult(status?.toString());
    if (message !== undefined) throw new CommandError(message, exitCode);
    return exitCode;
  } finally {
    stdout.off('resize', resize).off('error', gone);
    if (raw) stdin.setRawMode?.(false);
    // A user may still sit there: the process ends without waiting for one more key.
    if (wanted.stdin) stdin.destroy();
    socket.close();
  }
}

function sendSize(socket: WebSocketClient, { columns, rows }: CommandOutput): void {
  if (columns === undefined || rows === undefined) return;
  socket.send(Buffer.concat([Buffer.of(RESIZE), Buffer.from(JSON.stringify({ Width: columns, Height: rows }))]));
}

async function sendInput(socket: WebSocketClient, stdin: CommandInput): Promise<void> {
  try {
    for await (const piece of stdin) {
      if (!socket.send(Buffer.concat([Buffer.of(STDIN), Buffer.from(piece)]))) await socket.drained();
    }
  } catch {
    // The input broke, or is not needed any more: the command hears its end.
  }
  // In v4 an input cannot end.
  if (socket.protocol === 'v5.channel.k8s.io') socket.send(Buffer.of(CLOSE, STDIN));
}

/** Waits while the reader does not read; the socket then waits, too, and so does the command. */
async function written(stdout: CommandOutput, bytes: Uint8Array): Promise<void> {
  if (stdout.write(bytes) || stdout.destroyed) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      stdout.off('drain', settle).off('error', settle).off('close', settle);
      resolve();
    };
    stdout.on('drain', settle).on('error', settle).on('close', settle);
  });
}
