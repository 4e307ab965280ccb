import { spawn } from 'node:child_process';
import { abortable } from '../../base/abortable.ts';
import { errorCode } from '../../base/error-code.ts';
import type { Clock } from '../../base/clock.ts';
import { isJsonObject } from '../../base/json-object.ts';
import { CniPluginError } from './plugin-error.ts';

export interface PluginCall {
  readonly path: string;
  /** The plugin's name, for messages. */
  readonly type: string;
  readonly command: 'ADD' | 'DEL' | 'VERSION';
  /** The CNI_* variables besides CNI_COMMAND. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

/** Runs a plugin once. Resolves with what it printed. Rejects with CniPluginError, or the signal's reason: then it has been killed. */
export type ExecPlugin = (call: PluginCall, signal: AbortSignal) => Promise<string>;

/** A plugin that is being written at this moment is waited for (libcni's pkg/invoke/raw_exec.go). */
const BUSY_RETRIES = 5;
const BUSY_WAIT_MS = 1000;

export function pluginRunner(clock: Pick<Clock, 'sleep'>): ExecPlugin {
  return async (call, signal) => {
    for (let tries = 0; ; tries++) {
      signal.throwIfAborted();
      const ended = await runOnce(call, signal);
      if ('text' in ended) return ended.text;
      if (!ended.busy || tries >= BUSY_RETRIES) throw ended.error;
      await clock.sleep(BUSY_WAIT_MS, signal);
    }
  };
}

type Ended = { readonly text: string } | { readonly error: CniPluginError; readonly busy: boolean };

function runOnce({ path, type, command, env, stdin }: PluginCall, signal: AbortSignal): Promise<Ended> {
  return abortable(signal, (resolve) => {
    const child = spawn(path, [], { env: { ...process.env, ...env, CNI_COMMAND: command }, stdio: 'pipe' });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const failed = (msg: string, cause?: unknown): Ended => {
      return { error: new CniPluginError(type, command, { code: 0, msg, details: '' }, { cause }), busy: errorCode(cause) === 'ETXTBSY' };
    };
    child.once('error', (cause) => resolve(failed(`netplugin failed with no error message: ${cause.message}`, cause)));
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    // A plugin that ends without reading says why on its output.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    child.once('close', (code, killedBy) => {
      const [stdout, stderr] = [Buffer.concat(out).toString(), Buffer.concat(err).toString()];
      if (code === 0) resolve({ text: stdout });
      else if (stdout !== '') resolve(said(stdout) ?? failed(`netplugin failed but its message cannot be read: ${JSON.stringify(stdout)}`));
      else if (stderr !== '') resolve(failed(`netplugin failed: ${JSON.stringify(stderr)}`));
      else resolve(failed(`netplugin failed with no error message: ${killedBy ? `signal: ${killedBy}` : `exit status ${code}`}`));
    });
    const said = (stdout: string): Ended | undefined => {
      try {
        const value: unknown = JSON.parse(stdout);
        if (!isJsonObject(value)) return undefined;
        const { code, msg, details } = value;
        const text = (part: unknown): string => (typeof part === 'string' ? part : '');
        const words = { code: typeof code === 'number' ? code : 0, msg: text(msg), details: text(details) };
        return { error: new CniPluginError(type, command, words), busy: false };
      } catch {
        return undefined;
      }
    };
    return (aborted) => void (aborted && child.kill('SIGKILL'));
  });
}
