/** How a command ended: its exit code, and what to say where it is not the command's own doing. */
export interface CommandResult {
  readonly exitCode: number;
  readonly message?: string;
}

const FAILED = 1;

/** From the v1 Status on the error channel (k8s.io/client-go/tools/remotecommand v4.go); undefined: none came. */
export function commandResult(statusText: string | undefined): CommandResult {
  if (statusText === undefined) return { exitCode: FAILED, message: 'the connection ended before the command did' };
  const status = parsed(statusText);
  if (status === undefined) return { exitCode: FAILED, message: `the agent's last word makes no sense: ${statusText}` };
  if (status['status'] === 'Success') return { exitCode: 0 };
  const code = status['reason'] === 'NonZeroExitCode' ? exitCodeOf(status['details']) : undefined;
  return code === undefined ? { exitCode: FAILED, message: textOf(status['message']) ?? statusText } : { exitCode: code };
}

function exitCodeOf(details: unknown): number | undefined {
  const causes = isObject(details) ? details['causes'] : undefined;
  if (!Array.isArray(causes)) return undefined;
  const cause: unknown = causes.find((one: unknown) => isObject(one) && one['reason'] === 'ExitCode');
  const text = isObject(cause) ? (textOf(cause['message']) ?? '') : '';
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;
