import { type JsonObject, isJsonObject } from '../../../base/json-object.ts';

/** How a remote command ended, as the error stream of v4.channel.k8s.io says it (k8s.io/client-go/tools/remotecommand errorDecoderV4). */
export type CommandOutcome =
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** It could not be run, or its streams broke: the runtime's words. */
  | { readonly kind: 'failed'; readonly message: string };

/** Throws an Error for what is no such status. */
export function commandOutcome(text: string): CommandOutcome {
  const status = parsed(text);
  if (status['status'] === 'Success') return { kind: 'exited', exitCode: 0 };
  if (status['status'] !== 'Failure') throw new Error(`the runtime's status of the command is neither Success nor Failure: ${shown(text)}`);
  if (status['reason'] === 'NonZeroExitCode') {
    const code = exitCodeOf(status['details']);
    if (code === undefined) throw new Error(`the runtime's status of the command has no exit code: ${shown(text)}`);
    return { kind: 'exited', exitCode: code };
  }
  const { message } = status;
  return { kind: 'failed', message: typeof message === 'string' && message !== '' ? message : 'the runtime does not say why' };
}

function parsed(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // As what is no object.
  }
  if (!isJsonObject(value)) throw new Error(`the runtime's status of the command is no JSON object: ${shown(text)}`);
  return value;
}

function exitCodeOf(details: unknown): number | undefined {
  const causes = isJsonObject(details) ? details['causes'] : undefined;
  if (!Array.isArray(causes)) return undefined;
  const cause: unknown = causes.find((each: unknown) => isJsonObject(each) && each['reason'] === 'ExitCode');
  const message = isJsonObject(cause) ? cause['message'] : undefined;
  return typeof message === 'string' && /^\d{1,3}$/.test(message) ? Number(message) : undefined;
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 200));
